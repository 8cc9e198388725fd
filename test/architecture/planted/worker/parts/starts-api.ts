export { serveApi } from '../api.ts';

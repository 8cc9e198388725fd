export { serveApi } from '../../worker/api.ts';

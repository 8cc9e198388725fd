export { serveTags } from './tag-routes.js';

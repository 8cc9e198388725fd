export { serveTags } from './tag-routes.ts';

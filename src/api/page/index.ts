export { pageRoutes } from './page-routes.js';
export { watchRoutes } from './watch-routes.js';

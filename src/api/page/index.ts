export { pageRoutes } from './page-routes.js';
export { serveWatches } from './watch-routes.js';

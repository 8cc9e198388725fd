export { pageRoutes, showPage } from './page-routes.js';
export { serveWatches } from './watch-routes.js';

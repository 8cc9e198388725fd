export { pageRoutes, showPage } from './page-routes.ts';
export { serveWatches } from './watch-routes.ts';

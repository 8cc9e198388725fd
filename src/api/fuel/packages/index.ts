export { packageRoutes } from './package-routes.js';

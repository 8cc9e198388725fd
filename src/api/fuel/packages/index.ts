export { servePackages } from './package-routes.js';

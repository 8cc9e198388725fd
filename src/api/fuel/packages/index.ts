export { servePackages } from './package-routes.ts';

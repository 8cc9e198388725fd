import { extensionRoutes } from '../../core/contracts/fuel/extensions.ts';
import { type RouteGroup, serve } from '../serve.ts';

export const serveExtensions: RouteGroup = async (app, { operations: { tags, inventory } }) =>
  serve(app, extensionRoutes, {
    'GET /extensions': async () =>
      (await tags.extensions()).map(({ name, version = null, description }) => ({
        name,
        version,
        description: description ?? 'Decides which tags nodes get with their roles.',
        provides: ['tags'],
      })),
    async 'GET /clusters/:id/extensions'({ params }) {
      await inventory.clusters.get(params.id);
      return (await tags.extensions()).map(({ name }) => name);
    },
  });

import { pluginRoutes } from '../../../core/contracts/fuel/plugins.ts';
import { actorOf } from '../../requests/actor.ts';
import { type RouteGroup, serve } from '../../serve.ts';
import { viewPlugin } from './views.ts';

export const servePlugins: RouteGroup = async (app, { operations }) => {
  const { plugins } = operations.inventory;
  serve(app, pluginRoutes, {
    'GET /plugins': async () => (await plugins.list()).map(viewPlugin),
    'GET /plugins/:id': async ({ params }) => viewPlugin(await plugins.get(params.id)),
    'PUT /plugins/:id': async (request) =>
      viewPlugin(await plugins.update(request.params.id, request.body, actorOf(request))),
    'DELETE /plugins/:id': (request) => plugins.delete(request.params.id, actorOf(request)),
  });
};

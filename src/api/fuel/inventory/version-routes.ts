import { versionRoutes } from '../../../core/contracts/fuel/versions.ts';
import { actorOf } from '../../requests/actor.ts';
import { type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';

export const serveVersions: RouteGroup = async (app, { operations }) => {
  const { versions, move } = operations.inventory;
  serve(app, versionRoutes, {
    'GET /clusters/:id/versions': ({ params }) => versions.ofCluster(params.id),
    'GET /clusters/:id/move': ({ params, query: { release, plugins, back } }) =>
      move.plan(params.id, { release, plugins: idsIn(plugins, 'plugins'), back: isSet(back) }),
    'POST /clusters/:id/move': (request) => {
      const { digest, ...wanted } = request.body;
      return move.move(request.params.id, wanted, digest, actorOf(request));
    },
  });
};

import { rehearsalRoutes } from '../../core/contracts/rehearsals.ts';
import { runRequestOf } from '../fuel/graphs/run-request.ts';
import { actorOf } from '../requests/actor.ts';
import { clientGone } from '../requests/client-gone.ts';
import { given } from '../requests/given.ts';
import { type RouteGroup, serve } from '../serve.ts';

/** Each ends when no one waits for it any more. */
export const serveRehearsals: RouteGroup = async (app, { operations: { rehearsals } }) =>
  serve(app, rehearsalRoutes, {
    'POST /sites/:site/rehearsals'(request, reply) {
      const { kind, fail_nodes, fail_tasks, maas_away, started_by, ...input } = request.body;
      const asked = { ...input, site: request.params.site, started_by: actorOf(request, started_by) };
      return rehearsals.site(
        kind ?? 'deploy_site',
        asked,
        given({ fail_nodes, fail_tasks, maas_away }),
        clientGone(reply),
      );
    },
    'POST /clusters/:id/rehearsals'(request, reply) {
      const { fail_nodes, fail_tasks, maas_away, ...body } = request.body;
      const asked = { cluster: request.params.id, ...runRequestOf(request, body) };
      return rehearsals.cluster(asked, given({ fail_nodes, fail_tasks, maas_away }), clientGone(reply));
    },
  });

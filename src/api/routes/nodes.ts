import { checkRoutes } from '../../core/contracts/checks.ts';
import { machineRoutes } from '../../core/contracts/machine.ts';
import { maintenanceRoutes } from '../../core/contracts/maintenance.ts';
import { runOfNodeSchema, siteNodeRoutes } from '../../core/contracts/node-in-run.ts';
import { siteDriftRoutes } from '../../core/contracts/site-drift.ts';
import { actorOf } from '../requests/actor.ts';
import { given } from '../requests/given.ts';
import { type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';

const viewRun = shown(runOfNodeSchema);

export const serveSiteNodes: RouteGroup = async (
  app,
  { operations: { nodes, drift, machines, maintenance, siteChecks } },
) => {
  serve(app, siteNodeRoutes, {
    'POST /sites/:site/revisions/:ref/select': ({ params: { site, ref }, body }) =>
      nodes.select(site, ref, body.selectors, body.known),
    'GET /sites/:site/nodes/status': ({ params, query }) => nodes.status(params.site, query.revision),
    'GET /sites/:site/nodes/:node/history': async ({ params: { site, node }, query }) => {
      const { items, next } = await nodes.history(site, node, query);
      return { items: items.map(({ node, run }) => ({ node, run: viewRun(run) })), next };
    },
  });
  serve(app, machineRoutes, { 'GET /machines': async ({ query }) => ({ items: await machines.list(query.site) }) });
  serve(app, maintenanceRoutes, {
    'GET /maintenance': () => maintenance.list(),
    'PUT /nodes/:id/maintenance': (request) => maintenance.begin(request.params, given(request.body), actorOf(request)),
    'DELETE /nodes/:id/maintenance': (request) => maintenance.end(request.params, actorOf(request)),
    'PUT /sites/:site/nodes/:node/maintenance': (request) =>
      maintenance.begin(request.params, given(request.body), actorOf(request)),
    'DELETE /sites/:site/nodes/:node/maintenance': (request) => maintenance.end(request.params, actorOf(request)),
  });
  serve(app, checkRoutes, {
    'GET /sites/:site/checks': async ({ params }) => ({ items: await siteChecks.list(params.site) }),
    'GET /sites/:site/checks/results': async ({ params, query }) => ({
      items: await siteChecks.results(params.site, query),
    }),
  });
  serve(app, siteDriftRoutes, { 'GET /sites/:site/drift': ({ params }) => drift(params.site) });
};

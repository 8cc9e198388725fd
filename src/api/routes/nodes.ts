import { runOfNodeSchema, siteNodeRoutes } from '../../core/contracts/node-in-run.ts';
import { siteDriftRoutes } from '../../core/contracts/site-drift.ts';
import { type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';

const viewRun = shown(runOfNodeSchema);

export const serveSiteNodes: RouteGroup = async (app, { operations: { nodes, drift } }) => {
  serve(app, siteNodeRoutes, {
    'POST /sites/:site/revisions/:ref/select': ({ params: { site, ref }, body }) =>
      nodes.select(site, ref, body.selectors),
    'GET /sites/:site/nodes/status': ({ params, query }) => nodes.status(params.site, query.revision),
    'GET /sites/:site/nodes/:node/history': async ({ params: { site, node }, query }) => {
      const { items, next } = await nodes.history(site, node, query);
      return { items: items.map(({ node, run }) => ({ node, run: viewRun(run) })), next };
    },
  });
  serve(app, siteDriftRoutes, { 'GET /sites/:site/drift': ({ params }) => drift(params.site) });
};

import { nodeHistoryPageSchema, siteNodeRoutes } from '../../core/contracts/node-in-run.js';
import { type RouteGroup, serve } from '../serve.js';
import { shown } from '../shown.js';

const viewHistory = shown(nodeHistoryPageSchema);

export const serveSiteNodes: RouteGroup = async (app, { operations: { nodes } }) =>
  serve(app, siteNodeRoutes, {
    'POST /sites/:site/revisions/:ref/select': ({ params: { site, ref }, body }) =>
      nodes.select(site, ref, body.selectors),
    'GET /sites/:site/nodes/status': ({ params, query }) => nodes.status(params.site, query.revision),
    'GET /sites/:site/nodes/:node/history': async ({ params: { site, node }, query }) =>
      viewHistory(await nodes.history(site, node, query)),
  });

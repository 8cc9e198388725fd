import { siteListSchema, siteRoutes, siteSchema } from '../../core/contracts/site.js';
import { actorOf } from '../requests/actor.js';
import { type RouteGroup, serve } from '../serve.js';
import { shown } from '../shown.js';

const view = shown(siteSchema);
const viewList = shown(siteListSchema);

export const serveSites: RouteGroup = async (app, { operations: { sites } }) =>
  serve(app, siteRoutes, {
    async 'POST /sites'(request, reply) {
      const site = await sites.create(request.body, actorOf(request));
      void reply.header('location', `/api/v1/sites/${encodeURIComponent(site.name)}`);
      return view(site);
    },
    'GET /sites': async () => viewList({ items: await sites.list() }),
    'GET /sites/:site': async ({ params }) => view(await sites.get(params.site)),
    'DELETE /sites/:site': async (request) => sites.delete(request.params.site, actorOf(request)),
  });

import { rehearsalRoutes } from '../../core/contracts/rehearsal.ts';
import { type RouteGroup, serve } from '../serve.ts';

export const serveRehearsals: RouteGroup = async (app, { operations: { rehearsals } }) =>
  serve(app, rehearsalRoutes, {
    'POST /sites/:site/rehearsals': ({ params, body }) => rehearsals.site(params.site, body),
    'POST /clusters/:id/rehearsals': ({ params, body }) => rehearsals.cluster(params.id, body),
  });

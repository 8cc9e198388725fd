import { workerRoutes } from '../../core/contracts/worker.ts';
import { actorOf } from '../requests/actor.ts';
import { given } from '../requests/given.ts';
import { type RouteGroup, serve } from '../serve.ts';

export const serveWorkers: RouteGroup = async (app, { operations: { workerVersions } }) =>
  serve(app, workerRoutes, {
    'GET /workers/versions': async () => ({ items: await workerVersions.list() }),
    'GET /workers/versions/:version': ({ params }) => workerVersions.get(params.version),
    'POST /workers/versions/:version/drain': (request) =>
      workerVersions.drain(request.params.version, given({ ...request.body, by: actorOf(request, request.body.by) })),
  });

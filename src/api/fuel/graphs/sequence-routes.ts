import { sequenceRoutes } from '../../../core/contracts/fuel/deployments.ts';
import { actorOf } from '../../requests/actor.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { viewSequence } from './transaction-view.ts';

/** Sequences of graphs. */
export const serveSequences: RouteGroup = async (app, { operations: { sequences } }) => {
  const change = async (request: Asked<(typeof sequenceRoutes)['PUT /sequences/:id']>) =>
    viewSequence(await sequences.update(request.params.id, request.body, actorOf(request)));

  serve(app, sequenceRoutes, {
    'GET /sequences/': async ({ query }) => (await sequences.list(query)).map(viewSequence),
    async 'POST /sequences/'(request, reply) {
      const stored = viewSequence(await sequences.create(request.body, actorOf(request)));
      void reply.header('location', `/api/v1/sequences/${stored.id}`);
      return stored;
    },
    'GET /sequences/:id': async ({ params }) => viewSequence(await sequences.get(params.id)),
    'PUT /sequences/:id': change,
    'PATCH /sequences/:id': change,
    'DELETE /sequences/:id': (request) => sequences.delete(request.params.id, actorOf(request)),
  });
};

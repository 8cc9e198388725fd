import { sequenceRoutes } from '../../../core/contracts/fuel/deployments.ts';
import { actorOf } from '../../requests/actor.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { serveExecutions } from './deployments.ts';
import { serveGraphs } from './graphs.ts';
import { serveGraphTasks } from './plans.ts';
import { readYamlGraphs, refuseEmptyBodies } from './read-graph-bodies.ts';
import { viewSequence } from './transaction-view.ts';
import { serveTransactions } from './transactions.ts';

/** Graphs as in Fuel's API: stored, planned and run, with their results. */
export const serveFuelGraphs: RouteGroup = async (app, { operations, version }) => {
  // Without the prefix, which the outer registration has added already.
  const options = { operations, version };
  await app.register(async (uploads) => {
    readYamlGraphs(uploads);
    refuseEmptyBodies(uploads);
    await uploads.register(serveGraphs, options);
    await uploads.register(serveGraphTasks, options);
  });
  await app.register(serveExecutions, options);
  await app.register(serveSequences, options);
  await app.register(serveTransactions, options);
};

/** Sequences of graphs. */
const serveSequences: RouteGroup = async (app, { operations: { sequences } }) => {
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

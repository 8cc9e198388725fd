import { z } from 'zod';
import { actorOf } from '../../requests/actor.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import {
  newSequenceBody,
  sequenceChangeBody,
  sequenceListSchema,
  sequenceParams,
  sequenceSchema,
  sequencesQuery,
} from './transaction-schemas.js';
import { viewSequence } from './transaction-view.js';

const tags = ['deployments'];

/** Sequences of graphs. */
export const sequenceRoutes: RouteGroup = async (app, { operations: { sequences } }) => {
  app.get('/sequences/', {
    schema: {
      operationId: 'listSequences',
      summary: 'List sequences of graphs, all or those of a release',
      tags,
      querystring: sequencesQuery,
      response: { 200: sequenceListSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ query }) => (await sequences.list(given(query))).map(viewSequence),
  });

  app.post('/sequences/', {
    schema: {
      operationId: 'createSequence',
      summary: 'Store a sequence of graphs',
      tags,
      body: newSequenceBody,
      response: { 201: sequenceSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const stored = viewSequence(await sequences.create(request.body, actorOf(request)));
      return reply.code(201).header('location', `/api/v1/sequences/${stored.id}`).send(stored);
    },
  });

  app.get('/sequences/:id', {
    schema: {
      operationId: 'getSequence',
      summary: 'Show a sequence of graphs',
      tags,
      params: sequenceParams,
      response: { 200: sequenceSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params }) => viewSequence(await sequences.get(params.id)),
  });

  for (const [method, operationId] of [
    ['PUT', 'putSequence'],
    ['PATCH', 'patchSequence'],
  ] as const) {
    app.route({
      method,
      url: '/sequences/:id',
      schema: {
        operationId,
        summary: 'Change a sequence of graphs: what is not given stays',
        tags,
        params: sequenceParams,
        body: sequenceChangeBody,
        response: { 200: sequenceSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) =>
        viewSequence(await sequences.update(request.params.id, given(request.body), actorOf(request))),
    });
  }

  app.delete('/sequences/:id', {
    schema: {
      operationId: 'deleteSequence',
      summary: 'Delete a sequence of graphs; the graphs stay',
      tags,
      params: sequenceParams,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 503) },
    },
    handler: async (request, reply) => {
      await sequences.delete(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });
};

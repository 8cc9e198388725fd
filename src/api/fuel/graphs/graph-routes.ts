import { z } from 'zod';
import { actorOf } from '../../requests/actor.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import { idsIn, isSet, listIn } from '../request-parts.js';
import {
  graphBody,
  graphCheckBody,
  graphCheckQuery,
  graphCheckSchema,
  graphListSchema,
  graphParams,
  graphSchema,
  graphsQuery,
} from './graph-schemas.js';
import { viewGraph, viewUploaded } from './graph-view.js';
import { needsBody, sourceOf } from './read-graph-bodies.js';

const tags = ['graphs'];

/** All tasks of a large library, in one request. */
export const GRAPH_LIMIT = 32 * 1024 * 1024;

/** Graphs by their ids, whoever owns them. */
export const graphRoutes: RouteGroup = async (app, { operations: { graphs } }) => {
  app.get('/graphs/', {
    schema: {
      operationId: 'listGraphs',
      summary: 'List graphs, all or those of some owners and types',
      tags,
      querystring: graphsQuery,
      response: { 200: graphListSchema, ...problems(400, 503) },
    },
    handler: async ({ query }) => {
      const filter = given({
        clusters: idsIn(query.clusters_ids, 'clusters_ids'),
        plugins: idsIn(query.plugins_ids, 'plugins_ids'),
        releases: idsIn(query.releases_ids, 'releases_ids'),
        types: listIn(query.graph_types),
        fetchRelated: isSet(query.fetch_related),
      });
      return (await graphs.list(filter)).map(viewGraph);
    },
  });

  app.post('/graphs/', {
    bodyLimit: GRAPH_LIMIT,
    config: needsBody,
    schema: {
      operationId: 'createGraph',
      summary: 'Store a graph that nobody owns',
      tags,
      body: graphBody,
      response: { 201: graphSchema, ...problems(400, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const stored = viewUploaded(await graphs.createOrphan(sourceOf(request.body), actorOf(request)));
      return reply.code(201).header('location', `/api/v1/graphs/${stored.id}`).send(stored);
    },
  });

  app.post('/graphs/check/', {
    bodyLimit: GRAPH_LIMIT,
    config: needsBody,
    schema: {
      operationId: 'checkGraph',
      summary: 'Check a graph; nothing is stored',
      tags,
      querystring: graphCheckQuery,
      body: graphCheckBody,
      response: { 200: graphCheckSchema, ...problems(400, 404, 413, 415, 503) },
    },
    handler: async ({ body, query: { cluster, graph_type = 'default' } }) =>
      graphs.check(
        sourceOf(body),
        cluster === undefined ? undefined : { owner: { kind: 'cluster', id: cluster }, type: graph_type },
      ),
  });

  app.get('/graphs/:id', {
    schema: {
      operationId: 'getGraph',
      summary: 'Show a graph',
      tags,
      params: graphParams,
      response: { 200: graphSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params }) => viewGraph(await graphs.get(params.id)),
  });

  for (const [method, operationId] of [
    ['PUT', 'putGraph'],
    ['PATCH', 'patchGraph'],
  ] as const) {
    app.route({
      method,
      url: '/graphs/:id',
      bodyLimit: GRAPH_LIMIT,
      config: needsBody,
      schema: {
        operationId,
        summary: 'Change a graph: what is not given stays, tasks given replace all tasks',
        tags,
        params: graphParams,
        body: graphBody,
        response: { 200: graphSchema, ...problems(400, 404, 413, 415, 503) },
      },
      handler: async (request) =>
        viewUploaded(await graphs.update(request.params.id, sourceOf(request.body), actorOf(request))),
    });
  }

  app.delete('/graphs/:id', {
    schema: {
      operationId: 'deleteGraph',
      summary: 'Delete a graph with its tasks',
      tags,
      params: graphParams,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 503) },
    },
    handler: async (request, reply) => {
      await graphs.delete(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });
};

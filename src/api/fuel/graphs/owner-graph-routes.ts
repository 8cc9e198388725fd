import { z } from 'zod';
import type { GraphOwner } from '../../../store/index.js';
import { actorOf } from '../../requests/actor.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, listIn } from '../request-parts.js';
import { GRAPH_LIMIT } from './graph-routes.js';
import {
  graphBody,
  graphListSchema,
  graphSchema,
  ownerGraphParams,
  ownerGraphsQuery,
  taskListBody,
  taskListSchema,
  tasksQuery,
  typeQuery,
} from './graph-schemas.js';
import { viewGraph, viewTask, viewUploaded } from './graph-view.js';
import { needsBody, sourceOf } from './read-graph-bodies.js';
import { warningHeader } from './warning-header.js';

const tags = ['graphs'];

const OWNERS = [
  { kind: 'release', path: 'releases', name: 'Release' },
  { kind: 'cluster', path: 'clusters', name: 'Cluster' },
  { kind: 'plugin', path: 'plugins', name: 'Plugin' },
] as const;

/** Graphs of releases, clusters and plugins, each by its owner and type. */
export const ownerGraphRoutes: RouteGroup = async (app, { operations: { graphs } }) => {
  for (const { kind, path, name } of OWNERS) {
    const ownerOf = (id: number): GraphOwner => ({ kind, id });
    const one = { tags, params: ownerGraphParams(kind) };
    const url = `/${path}/:id/deployment_graphs/:type`;

    app.get(`/${path}/:id/deployment_graphs/`, {
      schema: {
        operationId: `list${name}Graphs`,
        summary: `List the graphs a ${kind} owns`,
        tags,
        params: idParams(kind),
        querystring: ownerGraphsQuery,
        response: { 200: graphListSchema, ...problems(400, 404, 503) },
      },
      handler: async ({ params }) => (await graphs.ofOwner(ownerOf(params.id))).map(viewGraph),
    });

    app.get(url, {
      schema: {
        ...one,
        operationId: `get${name}Graph`,
        summary: `Show a ${kind}'s graph of a type`,
        response: { 200: graphSchema, ...problems(400, 404, 503) },
      },
      handler: async ({ params }) => viewGraph(await graphs.find(ownerOf(params.id), params.type)),
    });

    app.post(url, {
      bodyLimit: GRAPH_LIMIT,
      config: needsBody,
      schema: {
        ...one,
        operationId: `create${name}Graph`,
        summary: `Store a ${kind}'s graph of a type`,
        description: 'Everything that is wrong in it is told at once. Names nobody defines are warnings.',
        body: graphBody,
        response: { 201: graphSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request, reply) => {
        const { id, type } = request.params;
        const stored = await graphs.create(ownerOf(id), type, sourceOf(request.body), actorOf(request));
        return reply
          .code(201)
          .header('location', `/api/v1/${path}/${id}/deployment_graphs/${type}`)
          .send(viewUploaded(stored));
      },
    });

    for (const method of ['PUT', 'PATCH'] as const) {
      app.route({
        method,
        url,
        bodyLimit: GRAPH_LIMIT,
        config: needsBody,
        schema: {
          ...one,
          operationId: `${method.toLowerCase()}${name}Graph`,
          summary: `Change a ${kind}'s graph: what is not given stays, tasks given replace all tasks`,
          body: graphBody,
          response: { 200: graphSchema, ...problems(400, 404, 413, 415, 503) },
        },
        handler: async (request) => {
          const { id, type } = request.params;
          return viewUploaded(await graphs.change(ownerOf(id), type, sourceOf(request.body), actorOf(request)));
        },
      });
    }

    app.delete(url, {
      schema: {
        ...one,
        operationId: `delete${name}Graph`,
        summary: `Delete a ${kind}'s graph with its tasks`,
        response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 503) },
      },
      handler: async (request, reply) => {
        await graphs.remove(ownerOf(request.params.id), request.params.type, actorOf(request));
        return reply.code(204).send();
      },
    });

    if (kind === 'plugin') continue;

    app.put(`/${path}/:id/deployment_tasks/`, {
      bodyLimit: GRAPH_LIMIT,
      config: needsBody,
      schema: {
        operationId: `put${name}Tasks`,
        summary: `Replace all tasks of a ${kind}'s graph, creating it where there is none`,
        description: 'Warnings are in the header `Warning`.',
        tags,
        params: idParams(kind),
        querystring: typeQuery,
        body: taskListBody,
        response: { 200: taskListSchema, ...problems(400, 404, 413, 415, 503) },
      },
      handler: async (request, reply) => {
        const { graph_type = 'default' } = request.query;
        const source = sourceOf(request.body);
        const stored = await graphs.replaceTasks(ownerOf(request.params.id), graph_type, source, actorOf(request));
        if (stored.warnings.length > 0) void reply.header('warning', warningHeader(stored.warnings));
        return stored.graph.tasks.map(viewTask);
      },
    });
  }

  app.get('/releases/:id/deployment_tasks/', {
    schema: {
      operationId: 'listReleaseTasks',
      summary: "List the tasks of a release's graph",
      tags,
      params: idParams('release'),
      querystring: tasksQuery,
      response: { 200: taskListSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params, query: { graph_type = 'default', start, end, include } }) => {
      const cut = given({ start, end, include: listIn(include) });
      return (await graphs.releaseTasks(params.id, graph_type, cut)).map(viewTask);
    },
  });

  const layers = [
    { layer: 'merged', part: '', operationId: 'listClusterTasks', of: 'all layers, merged' },
    { layer: 'own', part: 'own/', operationId: 'listClusterOwnTasks', of: "the cluster's own graph" },
    { layer: 'plugins', part: 'plugins/', operationId: 'listClusterPluginTasks', of: 'the graphs of its plugins' },
    { layer: 'release', part: 'release/', operationId: 'listClusterReleaseTasks', of: 'the graph of its release' },
  ] as const;
  for (const { layer, part, operationId, of } of layers) {
    app.get(`/clusters/:id/deployment_tasks/${part}`, {
      schema: {
        operationId,
        summary: `List the tasks of a cluster's graph from ${of}`,
        tags,
        params: idParams('cluster'),
        querystring: tasksQuery,
        response: { 200: taskListSchema, ...problems(400, 404, 409, 503) },
      },
      handler: async ({ params, query: { graph_type = 'default', start, end, include } }) => {
        const cut = given({ start, end, include: listIn(include) });
        return (await graphs.tasks(params.id, graph_type, layer, cut)).map(viewTask);
      },
    });
  }
};

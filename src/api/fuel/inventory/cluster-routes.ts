import { z } from 'zod';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams } from '../request-parts.js';
import {
  assignmentBody,
  clusterChangesBody,
  clusterListSchema,
  clusterSchema,
  newClusterBody,
  unassignmentBody,
} from './cluster-schemas.js';
import { jsonObjectSchema } from './release-schemas.js';
import { viewCluster } from './views.js';

const tags = ['clusters'];
const params = idParams('cluster');

export const clusterRoutes: RouteGroup = async (app, { operations }) => {
  const { clusters, assignment } = operations.inventory;

  app.get('/clusters', {
    schema: {
      operationId: 'listClusters',
      summary: 'List clusters, which Fuel calls environments',
      tags,
      response: { 200: clusterListSchema, ...problems(503) },
    },
    handler: async () => (await clusters.list()).map(viewCluster),
  });

  app.post('/clusters', {
    schema: {
      operationId: 'createCluster',
      summary: 'Create a cluster of a release',
      tags,
      body: newClusterBody,
      response: { 201: clusterSchema, ...problems(400, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const cluster = viewCluster(await clusters.create(request.body, actorOf(request)));
      return reply.code(201).header('location', `/api/v1/clusters/${cluster.id}`).send(cluster);
    },
  });

  app.get('/clusters/:id', {
    schema: {
      operationId: 'getCluster',
      summary: 'Show a cluster',
      tags,
      params,
      response: { 200: clusterSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewCluster(await clusters.get(request.params.id)),
  });

  app.put('/clusters/:id', {
    schema: {
      operationId: 'changeCluster',
      summary: 'Change name, site, components or page settings of a cluster',
      tags,
      params,
      body: clusterChangesBody,
      response: { 200: clusterSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) =>
      viewCluster(await clusters.update(request.params.id, request.body, viewCluster, actorOf(request))),
  });

  app.delete('/clusters/:id', {
    schema: {
      operationId: 'deleteCluster',
      summary: 'Delete a cluster with its graphs and history; its nodes stay in the inventory',
      tags,
      params,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      await clusters.delete(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });

  app.post('/clusters/:id/assignment', {
    schema: {
      operationId: 'assignNodes',
      summary: 'Take nodes into a cluster with roles, all or none',
      tags,
      params,
      body: assignmentBody,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => {
      await assignment.assign(request.params.id, request.body, actorOf(request));
      return {};
    },
  });

  app.post('/clusters/:id/unassignment', {
    schema: {
      operationId: 'unassignNodes',
      summary: 'Take nodes out of a cluster, all or none; deployed ones with the next deployment',
      tags,
      params,
      body: unassignmentBody,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => {
      const ids = request.body.map(({ id }) => id);
      await assignment.unassign(request.params.id, ids, actorOf(request));
      return {};
    },
  });
};

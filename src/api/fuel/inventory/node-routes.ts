import { z } from 'zod';
import type { Wire } from '../../../core/contracts/wire.js';
import type { NodeFilter } from '../../../store/index.js';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, idsIn, isSet, listIn } from '../request-parts.js';
import {
  deletedNodesQuery,
  newNodeBody,
  nodeChangesBody,
  nodeListChangesBody,
  nodeListSchema,
  nodePartsBody,
  nodePartsSchema,
  nodeSchema,
  nodesQuery,
} from './node-schemas.js';
import { jsonObjectBody, jsonObjectSchema } from './release-schemas.js';
import { viewNode } from './views.js';

const tags = ['inventory'];
const params = idParams('node');

function filterOf(query: Wire<typeof nodesQuery>): NodeFilter {
  const roles = listIn(query.roles);
  const statuses = listIn(query.status);
  const ids = idsIn(query.ids, 'ids');
  return {
    ...(query.cluster_id === undefined ? {} : { clusterId: query.cluster_id === '' ? null : Number(query.cluster_id) }),
    ...(query.group_id === undefined ? {} : { groupId: query.group_id }),
    ...(query.online === undefined ? {} : { online: isSet(query.online) }),
    ...(roles === undefined ? {} : { roles }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(ids === undefined ? {} : { ids }),
  };
}

export const inventoryNodeRoutes: RouteGroup = async (app, { operations }) => {
  const { nodes } = operations.inventory;
  const gone = { 204: z.undefined().describe('Gone.'), ...problems(400, 404, 409, 503) };

  app.get('/nodes', {
    schema: {
      operationId: 'listInventoryNodes',
      summary: 'List nodes of the inventory, of a cluster or of none',
      tags,
      querystring: nodesQuery,
      response: { 200: nodeListSchema, ...problems(400, 503) },
    },
    handler: async (request) => (await nodes.list(filterOf(request.query))).map(viewNode),
  });

  app.post('/nodes', {
    schema: {
      operationId: 'registerNode',
      summary: 'Add a machine to the inventory',
      tags,
      body: newNodeBody,
      response: { 201: nodeSchema, ...problems(400, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const node = viewNode(await nodes.register(request.body, actorOf(request)));
      return reply.code(201).header('location', `/api/v1/nodes/${node.id}`).send(node);
    },
  });

  app.put('/nodes', {
    bodyLimit: 16 * 1024 * 1024,
    schema: {
      operationId: 'changeNodes',
      summary: 'Change several nodes, all or none',
      tags,
      body: nodeListChangesBody,
      response: { 200: nodeListSchema, ...problems(400, 409, 413, 415, 503) },
    },
    handler: async (request) => (await nodes.updateMany(request.body, viewNode, actorOf(request))).map(viewNode),
  });

  app.delete('/nodes', {
    schema: {
      operationId: 'deleteNodes',
      summary: 'Forget several nodes, all or none',
      tags,
      querystring: deletedNodesQuery,
      response: gone,
    },
    handler: async (request, reply) => {
      const { ids, force } = request.query;
      await nodes.delete(idsIn(ids, 'ids') ?? [], isSet(force), actorOf(request));
      return reply.code(204).send();
    },
  });

  app.get('/nodes/:id', {
    schema: {
      operationId: 'getInventoryNode',
      summary: 'Show a node of the inventory',
      tags,
      params,
      response: { 200: nodeSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewNode(await nodes.get(request.params.id)),
  });

  for (const [method, operationId] of [
    ['PUT', 'changeNode'],
    ['PATCH', 'patchNode'],
  ] as const) {
    app.route({
      method,
      url: '/nodes/:id',
      schema: {
        operationId,
        summary: 'Change a node in the fields that are given',
        tags,
        params,
        body: nodeChangesBody,
        response: { 200: nodeSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) =>
        viewNode(await nodes.update(request.params.id, request.body, viewNode, actorOf(request))),
    });
  }

  app.delete('/nodes/:id', {
    schema: {
      operationId: 'deleteNode',
      summary: 'Forget a node',
      tags,
      params,
      querystring: deletedNodesQuery.pick({ force: true }),
      response: gone,
    },
    handler: async (request, reply) => {
      await nodes.delete([request.params.id], isSet(request.query.force), actorOf(request));
      return reply.code(204).send();
    },
  });

  app.get('/nodes/:id/attributes', {
    schema: {
      operationId: 'getNodeSettings',
      summary: 'Show the settings of a node',
      tags,
      params,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => nodes.attributes(request.params.id),
  });

  for (const [method, operationId, summary, merge] of [
    ['PUT', 'replaceNodeSettings', 'Replace the settings of a node', false],
    ['PATCH', 'changeNodeSettings', 'Change settings of a node; what is not given stays', true],
  ] as const) {
    app.route({
      method,
      url: '/nodes/:id/attributes',
      schema: {
        operationId,
        summary,
        tags,
        params,
        body: jsonObjectBody,
        response: { 200: jsonObjectSchema, ...problems(400, 404, 413, 415, 503) },
      },
      handler: async (request) => nodes.replaceAttributes(request.params.id, request.body, merge, actorOf(request)),
    });
  }

  for (const [part, id, defaults] of [
    ['interfaces', 'Interfaces', 'default_assignment'],
    ['disks', 'Disks', 'defaults'],
  ] as const) {
    app.get(`/nodes/:id/${part}`, {
      schema: {
        operationId: `getNode${id}`,
        summary: `Show the ${part} of a node, as set or as found`,
        tags,
        params,
        response: { 200: nodePartsSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => nodes.part(request.params.id, part),
    });

    app.put(`/nodes/:id/${part}`, {
      schema: {
        operationId: `replaceNode${id}`,
        summary: `Set the ${part} of a node`,
        tags,
        params,
        body: nodePartsBody,
        response: { 200: nodePartsSchema, ...problems(400, 404, 413, 415, 503) },
      },
      handler: async (request) => nodes.replacePart(request.params.id, part, request.body, actorOf(request)),
    });

    app.get(`/nodes/:id/${part}/${defaults}`, {
      schema: {
        operationId: `getFoundNode${id}`,
        summary: `Show the ${part} of a node as they were found`,
        tags,
        params,
        response: { 200: nodePartsSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => nodes.part(request.params.id, part, true),
    });
  }
};

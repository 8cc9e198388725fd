import { z } from 'zod';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams } from '../request-parts.js';
import { pluginChangesBody, pluginListSchema, pluginSchema } from './plugin-schemas.js';
import { viewPlugin } from './views.js';

const tags = ['plugins'];
const params = idParams('plugin');

export const pluginRoutes: RouteGroup = async (app, { operations }) => {
  const { plugins } = operations.inventory;

  app.get('/plugins', {
    schema: {
      operationId: 'listPlugins',
      summary: 'List installed plugins',
      tags,
      response: { 200: pluginListSchema, ...problems(503) },
    },
    handler: async () => (await plugins.list()).map(viewPlugin),
  });

  app.get('/plugins/:id', {
    schema: {
      operationId: 'getPlugin',
      summary: 'Show a plugin',
      tags,
      params,
      response: { 200: pluginSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewPlugin(await plugins.get(request.params.id)),
  });

  app.put('/plugins/:id', {
    bodyLimit: 16 * 1024 * 1024,
    schema: {
      operationId: 'changePlugin',
      summary: 'Change a plugin in the fields that are given',
      tags,
      params,
      body: pluginChangesBody,
      response: { 200: pluginSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => viewPlugin(await plugins.update(request.params.id, request.body, actorOf(request))),
  });

  app.delete('/plugins/:id', {
    schema: {
      operationId: 'deletePlugin',
      summary: 'Delete a plugin that no cluster has enabled',
      tags,
      params,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      await plugins.delete(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });
};

import { z } from 'zod';
import { problem } from '../../../ops/index.js';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams } from '../request-parts.js';
import { jsonObjectBody, jsonObjectSchema } from './release-schemas.js';
import { forceQuery, settingsBody, settingsSchema } from './settings-schemas.js';

const tags = ['clusters'];
const params = idParams('cluster');
const bodyLimit = 16 * 1024 * 1024;
const changed = { 200: settingsSchema, ...problems(400, 404, 413, 415, 503) };

const notByHand = () => {
  const message = 'It is not allowed to update generated attributes';
  const hint = 'Leave generated out: the service makes these for each cluster.';
  const errors = [{ severity: 'error', code: 'settings.generated', message, hint, path: 'body.generated' }] as const;
  return problem('invalid', message, { hint, errors });
};

export const settingsRoutes: RouteGroup = async (app, { operations }) => {
  const { settings } = operations.inventory;

  app.get('/clusters/:id/attributes', {
    schema: {
      operationId: 'getClusterSettings',
      summary: 'Show the settings of a cluster; passwords made for it are not among them',
      tags,
      params,
      response: { 200: settingsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => ({ editable: await settings.read(request.params.id) }),
  });

  const writes = [
    ['PUT', 'replaceClusterSettings', 'Replace the settings of a cluster', false],
    ['PATCH', 'changeClusterSettings', 'Change settings of a cluster; what is not given stays', true],
  ] as const;
  for (const [method, operationId, summary, merge] of writes) {
    app.route({
      method,
      url: '/clusters/:id/attributes',
      bodyLimit,
      schema: { operationId, summary, tags, params, querystring: forceQuery, body: settingsBody, response: changed },
      handler: async (request) => {
        const { editable, generated } = request.body;
        if (generated !== undefined) throw notByHand();
        const { id } = request.params;
        // Without settings there is nothing to change.
        if (editable === undefined) return { editable: await settings.read(id) };
        return { editable: await settings.write(id, editable, merge, actorOf(request)) };
      },
    });
  }

  app.get('/clusters/:id/attributes/defaults', {
    schema: {
      operationId: 'getDefaultClusterSettings',
      summary: 'Show the settings that the release gives a cluster',
      tags,
      params,
      response: { 200: settingsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => ({ editable: await settings.defaults(request.params.id) }),
  });

  app.put('/clusters/:id/attributes/defaults', {
    schema: {
      operationId: 'resetClusterSettings',
      summary: 'Set the settings of a cluster back to those of its release',
      tags,
      params,
      response: { 200: settingsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => ({ editable: await settings.reset(request.params.id, actorOf(request)) }),
  });

  app.get('/clusters/:id/vmware_attributes', {
    schema: {
      operationId: 'getVmwareSettings',
      summary: 'Show the VMware settings of a cluster whose release has any',
      tags,
      params,
      response: { 200: settingsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => ({ editable: await settings.vmware(request.params.id) }),
  });

  app.put('/clusters/:id/vmware_attributes', {
    bodyLimit,
    schema: {
      operationId: 'replaceVmwareSettings',
      summary: 'Replace the VMware settings of a cluster',
      tags,
      params,
      body: z.strictObject({ editable: z.record(z.string(), z.unknown()) }).meta({ id: 'VmwareSettingsChanges' }),
      response: changed,
    },
    handler: async (request) => ({
      editable: await settings.writeVmware(request.params.id, request.body.editable, actorOf(request)),
    }),
  });

  const networkParams = params.extend({
    provider: z.enum(['neutron', 'nova_network']).describe("The cluster's network provider."),
  });

  app.get('/clusters/:id/network_configuration/:provider', {
    schema: {
      operationId: 'getNetworkConfiguration',
      summary: 'Show the network configuration of a cluster',
      tags,
      params: networkParams,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => settings.network(request.params.id, request.params.provider),
  });

  app.put('/clusters/:id/network_configuration/:provider', {
    bodyLimit,
    schema: {
      operationId: 'changeNetworkConfiguration',
      summary: 'Replace the given parts of the network configuration of a cluster',
      tags,
      params: networkParams,
      body: jsonObjectBody,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 413, 415, 503) },
    },
    handler: async (request) =>
      settings.writeNetwork(request.params.id, request.params.provider, request.body, actorOf(request)),
  });

  app.get('/clusters/:id/network_configuration/template', {
    schema: {
      operationId: 'getNetworkTemplate',
      summary: 'Show the network template of a cluster that has one',
      tags,
      params,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => {
      const template = await settings.template(request.params.id);
      if (template !== null) return template;
      throw problem('not-found', `Network template is not set for cluster ${request.params.id}`, {
        hint: 'Upload one: PUT the same path.',
      });
    },
  });

  app.put('/clusters/:id/network_configuration/template', {
    bodyLimit,
    schema: {
      operationId: 'replaceNetworkTemplate',
      summary: 'Upload the network template of a cluster',
      tags,
      params,
      body: jsonObjectBody,
      response: { 200: jsonObjectSchema, ...problems(400, 404, 413, 415, 503) },
    },
    handler: async (request) => (await settings.writeTemplate(request.params.id, request.body, actorOf(request))) ?? {},
  });

  app.delete('/clusters/:id/network_configuration/template', {
    schema: {
      operationId: 'deleteNetworkTemplate',
      summary: 'Delete the network template of a cluster',
      tags,
      params,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 503) },
    },
    handler: async (request, reply) => {
      await settings.writeTemplate(request.params.id, null, actorOf(request));
      return reply.code(204).send();
    },
  });
};

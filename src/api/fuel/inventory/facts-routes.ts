import { z } from 'zod';
import type { Wire } from '../../../core/contracts/wire.js';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, idsIn, isSet } from '../request-parts.js';
import {
  deploymentFactsBody,
  deploymentFactsSchema,
  factsQuery,
  provisioningFactsBody,
  provisioningFactsSchema,
} from './settings-schemas.js';

const tags = ['clusters'];
const params = idParams('cluster');
/** Facts of a thousand nodes. */
const bodyLimit = 64 * 1024 * 1024;

const queryOf = ({ nodes, split }: Wire<typeof factsQuery>) => ({
  nodes: idsIn(nodes, 'nodes'),
  split: isSet(split),
});

export const factsRoutes: RouteGroup = async (app, { operations }) => {
  const { facts } = operations.inventory;
  const gone = { 204: z.undefined().describe('Those worked out count again.'), ...problems(400, 404, 503) };

  app.get('/clusters/:id/orchestrator/deployment', {
    schema: {
      operationId: 'getDeploymentFacts',
      summary: 'Show uploaded deployment facts; an empty list when there are none',
      tags,
      params,
      querystring: factsQuery,
      response: { 200: deploymentFactsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => (await facts.deployment(request.params.id, queryOf(request.query))) as never,
  });

  app.get('/clusters/:id/orchestrator/deployment/defaults', {
    schema: {
      operationId: 'getDefaultDeploymentFacts',
      summary: 'Show the deployment facts that are worked out of settings and nodes',
      tags,
      params,
      querystring: factsQuery,
      response: { 200: deploymentFactsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => (await facts.deploymentDefaults(request.params.id, queryOf(request.query))) as never,
  });

  app.put('/clusters/:id/orchestrator/deployment', {
    bodyLimit,
    schema: {
      operationId: 'uploadDeploymentFacts',
      summary: 'Upload deployment facts, which lie over those worked out',
      tags,
      params,
      body: deploymentFactsBody,
      response: { 200: deploymentFactsSchema, ...problems(400, 404, 413, 415, 503) },
    },
    handler: async (request) =>
      (await facts.uploadDeployment(request.params.id, request.body, actorOf(request))) as never,
  });

  app.delete('/clusters/:id/orchestrator/deployment', {
    schema: {
      operationId: 'deleteDeploymentFacts',
      summary: 'Delete uploaded deployment facts',
      tags,
      params,
      response: gone,
    },
    handler: async (request, reply) => {
      await facts.deleteDeployment(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });

  app.get('/clusters/:id/orchestrator/provisioning', {
    schema: {
      operationId: 'getProvisioningFacts',
      summary: 'Show uploaded provisioning facts; an empty object when there are none',
      tags,
      params,
      querystring: factsQuery,
      response: { 200: provisioningFactsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => (await facts.provisioning(request.params.id, queryOf(request.query))) ?? {},
  });

  app.get('/clusters/:id/orchestrator/provisioning/defaults', {
    schema: {
      operationId: 'getDefaultProvisioningFacts',
      summary: 'Show the provisioning facts that are worked out of nodes',
      tags,
      params,
      querystring: factsQuery,
      response: { 200: provisioningFactsSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => facts.provisioningDefaults(request.params.id, queryOf(request.query)),
  });

  app.put('/clusters/:id/orchestrator/provisioning', {
    bodyLimit,
    schema: {
      operationId: 'uploadProvisioningFacts',
      summary: 'Upload provisioning facts',
      tags,
      params,
      body: provisioningFactsBody,
      response: { 200: provisioningFactsSchema, ...problems(400, 404, 413, 415, 503) },
    },
    handler: async (request) => facts.uploadProvisioning(request.params.id, request.body, actorOf(request)),
  });

  app.delete('/clusters/:id/orchestrator/provisioning', {
    schema: {
      operationId: 'deleteProvisioningFacts',
      summary: 'Delete uploaded provisioning facts',
      tags,
      params,
      response: gone,
    },
    handler: async (request, reply) => {
      await facts.deleteProvisioning(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });
};

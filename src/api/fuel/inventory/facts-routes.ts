import { factsRoutes } from '../../../core/contracts/fuel/settings.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import { actorOf } from '../../requests/actor.ts';
import { type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';

type Query = PartOf<(typeof factsRoutes)['GET /clusters/:id/orchestrator/deployment'], 'query'>;

const queryOf = ({ nodes, split }: Query) => ({ nodes: idsIn(nodes, 'nodes'), split: isSet(split) });

export const serveFacts: RouteGroup = async (app, { operations }) => {
  const { facts } = operations.inventory;
  serve(app, factsRoutes, {
    'GET /clusters/:id/orchestrator/deployment': ({ params, query }) => facts.deployment(params.id, queryOf(query)),
    'GET /clusters/:id/orchestrator/deployment/defaults': ({ params, query }) =>
      facts.deploymentDefaults(params.id, queryOf(query)),
    'PUT /clusters/:id/orchestrator/deployment': (request) =>
      facts.uploadDeployment(request.params.id, request.body, actorOf(request)),
    'PATCH /clusters/:id/orchestrator/deployment': (request) =>
      facts.changeDeployment(request.params.id, request.body, actorOf(request)),
    'DELETE /clusters/:id/orchestrator/deployment': (request) =>
      facts.deleteDeployment(request.params.id, actorOf(request)),
    'GET /clusters/:id/orchestrator/provisioning': async ({ params, query }) =>
      (await facts.provisioning(params.id, queryOf(query))) ?? {},
    'GET /clusters/:id/orchestrator/provisioning/defaults': ({ params, query }) =>
      facts.provisioningDefaults(params.id, queryOf(query)),
    'PUT /clusters/:id/orchestrator/provisioning': (request) =>
      facts.uploadProvisioning(request.params.id, request.body, actorOf(request)),
    'DELETE /clusters/:id/orchestrator/provisioning': (request) =>
      facts.deleteProvisioning(request.params.id, actorOf(request)),
  });
};

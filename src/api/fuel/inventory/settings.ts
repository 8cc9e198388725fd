import { factsRoutes, settingsRoutes } from '../../../core/contracts/fuel/settings.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import { problem } from '../../../ops/index.ts';
import { actorOf } from '../../requests/actor.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';

const notByHand = () => {
  const message = 'It is not allowed to update generated attributes';
  const hint = 'Omit generated: the service sets it for each cluster.';
  const errors = [{ severity: 'error', code: 'settings.generated', message, hint, path: 'body.generated' }] as const;
  return problem('invalid', message, { hint, errors });
};

export const serveSettings: RouteGroup = async (app, { operations }) => {
  const { settings } = operations.inventory;

  const write = (merge: boolean) => async (request: Asked<(typeof settingsRoutes)['PUT /clusters/:id/attributes']>) => {
    const { editable, generated } = request.body;
    if (generated !== undefined) throw notByHand();
    const { id } = request.params;
    // Without settings there is nothing to change.
    if (editable === undefined) return { editable: await settings.read(id) };
    const { force, digest } = request.query;
    return { editable: await settings.write(id, editable, merge, actorOf(request), { keep: isSet(force), digest }) };
  };

  serve(app, settingsRoutes, {
    'GET /clusters/:id/attributes': async ({ params }) => ({ editable: await settings.read(params.id) }),
    'PUT /clusters/:id/attributes': write(false),
    'PATCH /clusters/:id/attributes': write(true),
    'POST /clusters/:id/attributes/plan': ({ params, query, body }) => {
      if (body.generated !== undefined) throw notByHand();
      return settings.plan(params.id, body.editable ?? {}, isSet(query.merge), isSet(query.force));
    },
    'GET /clusters/:id/attributes/defaults': async ({ params }) => ({ editable: await settings.defaults(params.id) }),
    'PUT /clusters/:id/attributes/defaults': async (request) => ({
      editable: await settings.reset(request.params.id, actorOf(request)),
    }),
    'GET /clusters/:id/attributes/history': async ({ params }) => ({ items: await settings.history(params.id) }),
    'GET /clusters/:id/attributes/history/:number': ({ params }) => settings.difference(params.id, params.number),
    'POST /clusters/:id/attributes/history/:number/revert': async (request) => ({
      editable: await settings.revert(request.params.id, request.params.number, actorOf(request)),
    }),
    'GET /clusters/:id/vmware_attributes': async ({ params }) => ({ editable: await settings.vmware(params.id) }),
    'PUT /clusters/:id/vmware_attributes': async (request) => ({
      editable: await settings.writeVmware(request.params.id, request.body.editable, actorOf(request)),
    }),
    'GET /clusters/:id/network_configuration/:provider': ({ params }) => settings.network(params.id, params.provider),
    'PUT /clusters/:id/network_configuration/:provider': (request) =>
      settings.writeNetwork(request.params.id, request.params.provider, request.body, actorOf(request)),
    async 'GET /clusters/:id/network_configuration/template'({ params: { id } }) {
      const template = await settings.template(id);
      if (template !== null) return template;
      const hint = 'Upload one: PUT the same path.';
      throw problem('not-found', `Network template is not set for cluster ${id}`, { hint });
    },
    'PUT /clusters/:id/network_configuration/template': async (request) =>
      (await settings.writeTemplate(request.params.id, request.body, actorOf(request))) ?? {},
    async 'DELETE /clusters/:id/network_configuration/template'(request) {
      await settings.writeTemplate(request.params.id, null, actorOf(request));
    },
  });
};

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

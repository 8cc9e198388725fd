import { clusterRoutes } from '../../../core/contracts/fuel/clusters.ts';
import { versionRoutes } from '../../../core/contracts/fuel/versions.ts';
import { actorOf } from '../../requests/actor.ts';
import { type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';
import { viewCluster } from './views.ts';

export const serveClusters: RouteGroup = async (app, { operations }) => {
  const { clusters, assignment } = operations.inventory;
  const { checks, states } = operations;
  serve(app, clusterRoutes, {
    'GET /clusters': async () => (await clusters.list()).map(viewCluster),
    async 'POST /clusters'(request, reply) {
      const cluster = viewCluster(await clusters.create(request.body, actorOf(request)));
      void reply.header('location', `/api/v1/clusters/${cluster.id}`);
      return cluster;
    },
    'GET /clusters/:id': async ({ params }) => viewCluster(await clusters.get(params.id)),
    'PUT /clusters/:id': async (request) =>
      viewCluster(await clusters.update(request.params.id, request.body, viewCluster, actorOf(request))),
    'DELETE /clusters/:id': (request) => clusters.delete(request.params.id, actorOf(request)),
    async 'POST /clusters/:id/assignment'(request) {
      await assignment.assign(request.params.id, request.body, actorOf(request));
      return {};
    },
    async 'POST /clusters/:id/unassignment'(request) {
      const ids = request.body.map(({ id }) => id);
      await assignment.unassign(request.params.id, ids, actorOf(request));
      return {};
    },
    async 'GET /clusters/:id/checks'({ params, query }) {
      const findings = await checks.check(params.id, idsIn(query.nodes, 'nodes'));
      return {
        ok: !findings.some(({ severity }) => severity === 'error'),
        findings: findings.map((one) => ({ ...one, nodes: one.nodes ?? [], tags: one.tags ?? [] })),
      };
    },
    'GET /clusters/:id/states': ({ params, query }) => states.states(params.id, query.node),
  });
};

export const serveVersions: RouteGroup = async (app, { operations }) => {
  const { versions, move } = operations.inventory;
  serve(app, versionRoutes, {
    'GET /clusters/:id/versions': ({ params }) => versions.ofCluster(params.id),
    'GET /clusters/:id/move': ({ params, query: { release, plugins, back } }) =>
      move.plan(params.id, { release, plugins: idsIn(plugins, 'plugins'), back: isSet(back) }),
    'POST /clusters/:id/move': (request) => {
      const { digest, ...wanted } = request.body;
      return move.move(request.params.id, wanted, digest, actorOf(request));
    },
  });
};

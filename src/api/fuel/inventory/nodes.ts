import { inventoryNodeRoutes } from '../../../core/contracts/fuel/nodes.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet, listIn } from '../request-parts.ts';
import { viewNode } from './views.ts';

type Routes = typeof inventoryNodeRoutes;

const filterOf = ({ cluster_id, group_id, online, roles, status, ids }: PartOf<Routes['GET /nodes'], 'query'>) =>
  given({
    clusterId: cluster_id === undefined ? undefined : cluster_id === '' ? null : Number(cluster_id),
    groupId: group_id,
    online: online === undefined ? undefined : isSet(online),
    roles: listIn(roles),
    statuses: listIn(status),
    ids: idsIn(ids, 'ids'),
  });

export const serveInventoryNodes: RouteGroup = async (app, { operations }) => {
  const { nodes } = operations.inventory;
  const change = async (request: Asked<Routes['PUT /nodes/:id']>) =>
    viewNode(await nodes.update(request.params.id, request.body, viewNode, actorOf(request)));

  serve(app, inventoryNodeRoutes, {
    'GET /nodes': async ({ query }) => (await nodes.list(filterOf(query))).map(viewNode),
    async 'POST /nodes'(request, reply) {
      const node = viewNode(await nodes.register(request.body, actorOf(request)));
      void reply.header('location', `/api/v1/nodes/${node.id}`);
      return node;
    },
    'PUT /nodes': async (request) => (await nodes.updateMany(request.body, viewNode, actorOf(request))).map(viewNode),
    'DELETE /nodes': (request) =>
      nodes.delete(idsIn(request.query.ids, 'ids') ?? [], isSet(request.query.force), actorOf(request)),
    'GET /agents': async ({ query }) => [
      ...(await operations.agents.list(query.cluster_id === undefined ? undefined : Number(query.cluster_id))),
    ],
    'GET /nodes/:id': async ({ params }) => viewNode(await nodes.get(params.id)),
    'PUT /nodes/:id': change,
    'PATCH /nodes/:id': change,
    'DELETE /nodes/:id': (request) => nodes.delete([request.params.id], isSet(request.query.force), actorOf(request)),
    'GET /nodes/:id/attributes': ({ params }) => nodes.attributes(params.id),
    'PUT /nodes/:id/attributes': (request) =>
      nodes.replaceAttributes(request.params.id, request.body, false, actorOf(request)),
    'PATCH /nodes/:id/attributes': (request) =>
      nodes.replaceAttributes(request.params.id, request.body, true, actorOf(request)),
    'GET /nodes/:id/interfaces': ({ params }) => nodes.part(params.id, 'interfaces'),
    'PUT /nodes/:id/interfaces': (request) =>
      nodes.replacePart(request.params.id, 'interfaces', request.body, actorOf(request)),
    'GET /nodes/:id/interfaces/default_assignment': ({ params }) => nodes.part(params.id, 'interfaces', true),
    'GET /nodes/:id/disks': ({ params }) => nodes.part(params.id, 'disks'),
    'PUT /nodes/:id/disks': (request) => nodes.replacePart(request.params.id, 'disks', request.body, actorOf(request)),
    'GET /nodes/:id/disks/defaults': ({ params }) => nodes.part(params.id, 'disks', true),
  });
};

import { type OpenstackConfigAnswer, openstackConfigRoutes } from '../../../core/contracts/fuel/openstack-configs.ts';
import type { ConfigTarget } from '../../../ops/index.ts';
import type { OpenstackConfigRecord } from '../../../store/index.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';
import { viewStarted } from './transaction-view.ts';

export const serveOpenstackConfigs: RouteGroup = async (app, { operations: { openstackConfigs } }) => {
  serve(app, openstackConfigRoutes, {
    async 'GET /openstack-config/'({ query }) {
      const filter = given({
        clusterId: query.cluster_id,
        nodeId: idsIn(query.node_ids, 'node_ids'),
        nodeRole: query.node_role,
        isActive: query.is_active === undefined || query.is_active === '' || isSet(query.is_active),
      });
      return (await openstackConfigs.list(filter)).map(viewConfig);
    },
    async 'POST /openstack-config/'(request) {
      const { configuration } = request.body;
      return (await openstackConfigs.create(targetOf(request.body), configuration, actorOf(request))).map(viewConfig);
    },
    'GET /openstack-config/:id': async ({ params }) => viewConfig(await openstackConfigs.get(params.id)),
    'DELETE /openstack-config/:id': (request) => openstackConfigs.delete(request.params.id, actorOf(request)),
    async 'PUT /openstack-config/execute/'(request) {
      const options = given({ force: request.body.force || undefined, started_by: actorOf(request) });
      return viewStarted(await openstackConfigs.execute(targetOf(request.body), options));
    },
  });
};

const targetOf = (body: {
  readonly cluster_id: number;
  readonly node_ids?: readonly number[] | undefined;
  readonly node_role?: string | undefined;
}): ConfigTarget => given({ cluster: body.cluster_id, nodes: body.node_ids, role: body.node_role });

const viewConfig = (config: OpenstackConfigRecord): OpenstackConfigAnswer => ({
  id: config.id,
  is_active: config.isActive,
  config_type: config.nodeId !== null ? 'node' : config.nodeRole !== null ? 'role' : 'cluster',
  cluster_id: config.clusterId,
  node_id: config.nodeId,
  node_role: config.nodeRole,
  created_at: config.createdAt,
  configuration: config.configuration as OpenstackConfigAnswer['configuration'],
});

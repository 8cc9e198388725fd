import type { PlanExplanation } from '../../core/contracts/fuel/plan-explanation.ts';
import { given } from '../../core/data/given.ts';
import { calledText } from '../../core/names.ts';
import { onlyOrders } from '../../core/task-types/index.ts';
import type { JsonFields, OpenstackConfigFilter, OpenstackConfigRecord } from '../../store/index.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { ProblemError, problem } from '../problem.ts';
import { checkClusterNodes } from './cluster-nodes.ts';
import type { DeploymentOptions } from './deployment-operations.ts';
import { inFuelTerms } from './fuel-terms.ts';
import { planOperations } from './plan-operations.ts';
import { type StartedDeployment, startGraphRun } from './start-graph-run.ts';

/** The whole cluster, nodes of it, or a role. */
export interface ConfigTarget {
  readonly cluster: number;
  readonly nodes?: readonly number[];
  readonly role?: string;
}

/** OpenStack configuration that expressions read as `$.configs`. @throws `invalid`, `not-found` in Fuel's terms */
export function openstackConfigOperations(deps: OpsDependencies) {
  const { store } = deps;
  const plans = planOperations(deps);
  const configs = store.openstackConfigs;
  const audit = (actor: string, action: string, cluster: number) =>
    store.audit.append({ actor, action, target: `cluster/${cluster}` });

  /** @returns the cluster, as messages call it */
  async function checkTarget({ cluster, nodes, role }: ConfigTarget): Promise<string> {
    if (nodes !== undefined && role !== undefined)
      throw problem('invalid', 'node_ids and node_role exclude each other', { hint: 'Give only one of them.' });
    const named = calledText('cluster', await store.clusters.brief(cluster));
    await checkClusterNodes(store, cluster, nodes);
    return named;
  }

  async function active(id: number): Promise<OpenstackConfigRecord> {
    const config = await configs.get(id);
    if (config.isActive) return config;
    throw problem('invalid', `Configuration '${id}' has been already disabled.`, {
      hint: 'List the active ones: fuel2 openstack-config list --env ID.',
    });
  }

  return inFuelTerms({
    async list(filter: OpenstackConfigFilter): Promise<readonly OpenstackConfigRecord[]> {
      if (filter.clusterId !== undefined) await store.clusters.brief(filter.clusterId);
      return configs.list(filter);
    },
    get: (id: number): Promise<OpenstackConfigRecord> => configs.get(id),
    async create(
      target: ConfigTarget,
      configuration: JsonFields,
      actor: string,
    ): Promise<readonly OpenstackConfigRecord[]> {
      await checkTarget(target);
      const { cluster: clusterId, nodes, role } = target;
      const kept = { clusterId, configuration, ...given({ nodeRole: role }) };
      const created = await configs.create(nodes === undefined ? [kept] : nodes.map((nodeId) => ({ ...kept, nodeId })));
      await audit(actor, 'openstack-config.create', clusterId);
      return created;
    },
    async delete(id: number, actor: string): Promise<void> {
      const { clusterId } = await active(id);
      await configs.disable(id);
      await audit(actor, 'openstack-config.delete', clusterId);
    },
    /** Runs the tasks that ask for it in `refresh_on`. */
    async execute(target: ConfigTarget, options: DeploymentOptions): Promise<StartedDeployment> {
      const named = await checkTarget(target);
      const { cluster, role } = target;
      const files = new Set(
        (await configs.list({ clusterId: cluster, isActive: true })).flatMap(({ configuration }) =>
          Object.keys(configuration),
        ),
      );
      if (files.size === 0)
        throw problem('invalid', `${named} has no OpenStack configuration`, {
          hint: `Store one: fuel2 openstack-config upload --env ${cluster} --file FILE.`,
        });
      const ofRole = async () =>
        (await store.nodes.list({ clusterId: cluster }))
          .filter(({ roles }) => roles.includes(role!))
          .map(({ id }) => id);
      const nodes = role === undefined ? target.nodes : await ofRole();
      if (nodes?.length === 0)
        throw problem('invalid', `no node of ${named} has role ${role}`, { hint: 'Name another role.' });
      const graph = { type: 'default', refreshed_by: [...files].sort(), ...given({ nodes }) };
      // Cluster and nodes were checked: only a graph with tasks can be missing.
      const plan = await plans
        .explain(cluster, { ...graph, ...(options.force === true ? { force: true } : {}) })
        .catch((error: unknown) => {
          if (error instanceof ProblemError && error.problem.code === 'not-found') return null;
          throw error;
        });
      const isAsked = (one: PlanExplanation['nodes'][number]): boolean =>
        one.runs.some(({ type }) => !onlyOrders(type)) || one.skipped.some(({ reason }) => reason === 'condition');
      if (plan === null || !plan.nodes.some(isAsked)) {
        throw problem('invalid', `No task of ${named} is refreshed by its OpenStack configuration`, {
          hint: `Name one of ${graph.refreshed_by.join(', ')}, or '*', in refresh_on of a task.`,
        });
      }
      return startGraphRun(deps, { cluster, graphs: [graph], ...options });
    },
  });
}

import { type ChangedSetting, changedSettings } from '../../clusters/changed-settings.ts';
import { readClusterSources } from '../../clusters/read-sources.ts';
import { unknownType } from '../../clusters/requested-graphs.ts';
import { flattenSettings, passwordSettings } from '../../clusters/settings.ts';
import { clusterStates } from '../../clusters/state/cluster-state.ts';
import { given } from '../../core/data/given.ts';
import type { GraphRequest, GraphRunInput } from '../../core/graph-run/input.ts';
import { actionOf, namesOfType } from '../../core/graph-types.ts';
import type { MaintenanceNote } from '../../core/maintenance.ts';
import { calledText } from '../../core/names.ts';
import { requestRefused } from '../../core/run/failure.ts';
import { GRAPH_RUN_KIND, OPEN_TRANSACTION_STATUSES } from '../../core/words.ts';
import type { Fields } from '../../graph/index.ts';
import type { NodeRecord, SequenceRecord } from '../../store/index.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { problem } from '../problem.ts';
import { requestProblem } from '../refusal.ts';
import type { RunOperations } from '../runs.ts';
import { Service } from '../service.ts';
import { readSources } from '../tags/read-sources.ts';
import { checkClusterNodes } from './cluster-nodes.ts';
import { clusterTasks } from './cluster-tasks.ts';
import { type StartedDeployment, startGraphRun } from './start-graph-run.ts';
import { type ShownTransaction, withProgress } from './transaction-progress.ts';

/** How to run a deployment. */
export type DeploymentOptions = Pick<
  GraphRunInput,
  | 'mode'
  | 'force'
  | 'debug'
  | 'rollouts'
  | 'override_limits'
  | 'started_by'
  | 'reason'
  | 'title'
  | 'description'
  | 'labels'
>;

interface ChangesToDeploy extends DeploymentOptions {
  readonly type: string;
  readonly nodes?: readonly number[];
  readonly tasks?: readonly string[];
}

/** What the next deployment of changes brings to a cluster, and how. */
interface PendingChanges {
  readonly cluster: number;
  /** The sequence of its release that it runs; null: the graphs that have something to do. */
  readonly sequence: Pick<SequenceRecord, 'id' | 'name'> | null;
  readonly graphs: readonly string[];
  readonly nodes: readonly {
    readonly id: number;
    readonly name: string;
    readonly change: 'added' | 'removed' | 'roles';
    readonly roles: readonly string[];
    readonly pending_roles: readonly string[];
  }[];
  /** The nodes that it leaves out, because people work on them. */
  readonly maintenance: readonly NodeInMaintenance[];
  /** Those that differ from what tasks saw last; null before any task has succeeded, as all of them are new. */
  readonly settings: readonly ChangedSetting[] | null;
}

interface NodeInMaintenance extends MaintenanceNote {
  readonly id: number;
  readonly name: string;
}

/** Name of the sequence that `deployChanges` runs if a release has it. */
const DEPLOY_CHANGES = 'deploy-changes';

/**
 * Starts and stops graph runs. All return the run's transaction; starts also return warnings about its cluster. @throws
 * `invalid`, `not-found`, `conflict`
 */
export class DeploymentOperations extends Service {
  readonly #runs: Pick<RunOperations, 'stop' | 'list'>;
  readonly #started = (input: GraphRunInput) => startGraphRun(this.deps, input);

  constructor(deps: OpsDependencies, runs: Pick<RunOperations, 'stop' | 'list'>) {
    super(deps);
    this.#runs = runs;
  }

  /** Runs any graphs of a cluster one after another, or the rest of an earlier run. */
  execute(input: GraphRunInput): Promise<StartedDeployment> {
    return this.#started(input);
  }
  /** Runs one graph, which must have tasks. */
  async deploy(cluster: number, { type, nodes, tasks, ...options }: ChangesToDeploy): Promise<StartedDeployment> {
    await this.store.clusters.brief(cluster);
    await checkClusterNodes(this.store, cluster, nodes);
    const graph = {
      ...(await this.#named(cluster, type)),
      ...(nodes === undefined || nodes.length === 0 ? {} : { nodes }),
      ...given({ tasks }),
    };
    return this.#startedWithTasks({ cluster, graphs: [graph], ...options });
  }
  /** What `deployChanges` would do now: nothing is started. */
  async changes(cluster: number): Promise<PendingChanges> {
    const { releaseId } = await this.store.clusters.brief(cluster);
    const sequence = await this.store.sequences.find(releaseId, DEPLOY_CHANGES);
    const graphs = sequence === null ? await this.#changeGraphs(cluster) : sequence.graphs;
    const sources = await readSources(this.deps, cluster);
    const { now, before } = clusterStates(sources, await this.store.taskStates.read(cluster));
    const settings = Object.keys(flattenSettings(sources.cluster.settings));
    const nodes = await this.store.nodes.list({ clusterId: cluster });
    return {
      cluster,
      sequence: sequence === null ? null : { id: sequence.id, name: sequence.name },
      graphs: graphs.map(({ type }) => String(type)),
      maintenance: sources.nodes.flatMap(({ id, name, maintenance }) =>
        maintenance === undefined ? [] : { id, name: name ?? String(id), ...maintenance },
      ),
      nodes: nodes.flatMap((node) => {
        const { id, name, roles, pendingRoles: pending_roles } = node;
        const change = changeOf(node);
        return change === null ? [] : [{ id, name, change, roles, pending_roles }];
      }),
      settings:
        before === null
          ? null
          : changedSettings(
              pick(before.common, settings),
              pick(now.common, settings),
              passwordSettings(sources.cluster.settings),
            ),
    };
  }
  /** Deploys all changes: by the release's sequence `deploy-changes`, else by deletion, provisioning and deployment. */
  async deployChanges(cluster: number, options: DeploymentOptions): Promise<StartedDeployment> {
    const { releaseId } = await this.store.clusters.brief(cluster);
    const sequence = await this.store.sequences.find(releaseId, DEPLOY_CHANGES);
    if (sequence !== null) return this.#started({ cluster, sequence: sequence.id, ...options });
    return this.#startedWithTasks({ cluster, graphs: await this.#changeGraphs(cluster), ...options });
  }
  /** Runs the graph that verifies the networks of the cluster. */
  async verifyNetworks(cluster: number, options: DeploymentOptions): Promise<StartedDeployment> {
    await this.store.clusters.brief(cluster);
    return this.#startedWithTasks({
      cluster,
      graphs: [await this.#named(cluster, 'network_verification')],
      ...options,
    });
  }
  async executeSequence(sequence: number, cluster: number, options: DeploymentOptions): Promise<StartedDeployment> {
    await this.store.sequences.get(sequence);
    return this.#started({ cluster, sequence, ...options });
  }
  /** Stops the cluster's run: running work finishes, nothing new starts. */
  async stop(cluster: number, by: string): Promise<ShownTransaction> {
    const named = calledText('cluster', await this.store.clusters.brief(cluster));
    const [run] = await this.store.transactions.list({
      clusterId: cluster,
      parentId: null,
      statuses: OPEN_TRANSACTION_STATUSES,
    });
    const id = run === undefined ? await this.#waitingRun(cluster) : run.temporalRunId;
    if (id == null) {
      throw problem('invalid', 'Nothing to stop', { hint: `No run is open on ${named}.` });
    }
    await this.#runs.stop(id, { by });
    const stopped = await this.store.transactions.create({
      name: 'stop_deployment',
      clusterId: cluster,
      status: 'success',
      message: `run ${run?.id ?? id} is stopping: running work finishes, nothing new starts`,
      startedBy: by,
    });
    return withProgress(this.store, stopped);
  }

  /** As `started`, where Fuel refuses a graph without tasks. */
  async #startedWithTasks(input: GraphRunInput & Required<Pick<GraphRunInput, 'graphs'>>) {
    const { cluster, graphs } = input;
    const sources = await readClusterSources(this.store, cluster);
    const known = new Set((await this.store.graphs.typesOf(cluster)).flatMap(namesOfType));
    for (const [index, { type }] of graphs.entries()) {
      // Nodes can be removed from every cluster, also without a graph that undoes something on them.
      if (actionOf(type) === 'delete' || (await clusterTasks(this.store, cluster, type, 'merged')).length > 0) continue;
      throw requestProblem(requestRefused('invalid', [unknownType(sources, type, known, `graphs[${index}].type`)]));
    }
    return this.#started(input);
  }

  /** The type, by the name that it has in the cluster. */
  async #named(cluster: number, type: string): Promise<GraphRequest> {
    const known = await this.store.graphs.typesOf(cluster);
    return { type: namesOfType(type).find((name) => known.includes(name)) ?? type };
  }

  /** Graphs with something to do, in deployment order. */
  async #changeGraphs(cluster: number): Promise<readonly GraphRequest[]> {
    const nodes = await this.store.nodes.list({ clusterId: cluster });
    const wanted = [
      ...(nodes.some((node) => node.pendingDeletion) ? ['deletion'] : []),
      ...(nodes.some((node) => node.pendingAddition) ? ['provisioning'] : []),
      // Where all nodes leave, nothing is left to deploy, and no role has too few nodes.
      ...(nodes.length > 0 && nodes.every((node) => node.pendingDeletion) ? [] : ['default']),
    ];
    const withTasks = await Promise.all(
      wanted.map(async (type) =>
        // Removed nodes leave, also where no task has to undo anything.
        actionOf(type) === 'delete' || (await clusterTasks(this.store, cluster, type, 'merged')).length > 0
          ? [await this.#named(cluster, type)]
          : [],
      ),
    );
    const graphs = withTasks.flat();
    return graphs.length > 0 ? graphs : [{ type: 'default' }];
  }

  /** The id of the cluster's run that no worker has opened: it has no transaction. */
  async #waitingRun(cluster: number): Promise<string | undefined> {
    const labels = [['cluster', String(cluster)]] as const;
    return (await this.#runs.list({ kind: GRAPH_RUN_KIND, labels, open: true, limit: 1 })).items[0]?.id;
  }
}

function changeOf(node: Pick<NodeRecord, 'pendingAddition' | 'pendingDeletion' | 'pendingRoles'>) {
  if (node.pendingDeletion) return 'removed';
  if (node.pendingAddition) return 'added';
  return node.pendingRoles.length > 0 ? 'roles' : null;
}

const pick = (data: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(data, key) ? [[key, data[key]]] : [])));

/** The use cases of people and programs. API, CLI and page sit on top. */

import { type ClusterFinding, checkCluster } from '../clusters/checks/check-cluster.ts';
import { given } from '../core/data/given.ts';
import type { AuditFilter } from '../store/index.ts';
import { agentStates, missingAgents } from './agent-presence.ts';
import { AttemptOperations } from './attempts.ts';
import type { OpsDependencies } from './dependencies.ts';
import { StateOperations } from './graphs/cluster-states.ts';
import { DeploymentOperations } from './graphs/deployments.ts';
import { GraphOperations } from './graphs/graphs.ts';
import { PlanOperations } from './graphs/plans.ts';
import { RunTaskOperations } from './graphs/run-tasks.ts';
import { SequenceOperations } from './graphs/sequences.ts';
import { TransactionOperations } from './graphs/transactions.ts';
import { HealthOperations } from './health.ts';
import { AssignmentOperations } from './inventory/assignment.ts';
import { ClusterSettingsOperations } from './inventory/cluster-settings.ts';
import { ClusterOperations } from './inventory/clusters.ts';
import { FactsOperations } from './inventory/facts.ts';
import { MoveOperations } from './inventory/move.ts';
import { InventoryNodeOperations } from './inventory/nodes.ts';
import { PluginOperations } from './inventory/plugins.ts';
import { ReleaseOperations } from './inventory/releases.ts';
import { RoleOperations } from './inventory/roles.ts';
import { VersionOperations } from './inventory/versions.ts';
import { MachineOperations } from './machines.ts';
import { MaintenanceOperations } from './maintenance.ts';
import { NameOperations } from './names.ts';
import { NodeOperations } from './nodes.ts';
import { NoticeOperations } from './notices.ts';
import { PackageOperations } from './packages/packages.ts';
import { PushOperations } from './pushes.ts';
import { RehearsalOperations } from './rehearsals/index.ts';
import { RunOperations } from './runs.ts';
import { ScheduleOperations } from './schedules.ts';
import { SiteCheckOperations } from './site-checks.ts';
import { siteDrift } from './site-drift.ts';
import { SiteOperations } from './sites.ts';
import { readSources } from './tags/read-sources.ts';
import { TagOperations } from './tags/tags.ts';
import { TaskLogOperations } from './task-logs.ts';
import { callTemporal } from './temporal-calls.ts';
import { TokenOperations } from './tokens.ts';
import { trends } from './trends.ts';
import { WorkerVersionOperations } from './worker-versions.ts';

export { extendedReleases } from '../clusters/plugin-fit.ts';
export type { TagOwner } from '../store/index.ts';
export { AgentPresence } from './agent-presence.ts';
export type { OpsDependencies } from './dependencies.ts';
export type { ClusterLayer } from './graphs/cluster-tasks.ts';
export type { DeploymentOptions } from './graphs/deployments.ts';
export type { GraphSource } from './graphs/graph-source.ts';
export type { UploadedGraph } from './graphs/graphs.ts';
export type { StartedDeployment } from './graphs/start-graph-run.ts';
export type { HistoryRecord } from './graphs/task-history.ts';
export type { ShownTransaction } from './graphs/transaction-progress.ts';
export type { ClusterView } from './inventory/clusters.ts';
export { hasUploadedFacts } from './inventory/facts.ts';
export type { NodeView } from './inventory/node-change.ts';
export type { PluginWithTags } from './inventory/plugins.ts';
export { isDeployable, vmwareAttributes } from './inventory/releases.ts';
export type { InstalledPackage, PackageView } from './packages/packages.ts';
export { asProblem, PROBLEM_CODES, type ProblemCode, ProblemError, problem } from './problem.ts';
export { readerHere } from './reading/reader.ts';
export { type OpenReader, openReader } from './reading/reading-thread.ts';
export { type SignIn, SignInError, signIn } from './sign-in.ts';
export { tagExtensionsOf } from './tags/load-tag-extensions.ts';
export type { TagExtension } from './tags/tag-extension.ts';
export type { TagUpload } from './tags/tags.ts';

export type { CreatedToken, Principal, SignedIn, TokenOperations } from './tokens.ts';

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(deps: OpsDependencies) {
  const sites = new SiteOperations(deps);
  const runs = new RunOperations(deps);
  const nodes = new NodeOperations(deps);
  const graphs = {
    graphs: new GraphOperations(deps),
    plans: new PlanOperations(deps),
    states: new StateOperations(deps),
    deployments: new DeploymentOperations(deps, runs),
    sequences: new SequenceOperations(deps),
    transactions: new TransactionOperations(deps),
    /** Tasks of a run, for people watching it. */
    runTasks: new RunTaskOperations(deps),
  };
  /** The input of plans. */
  const inventory = {
    releases: new ReleaseOperations(deps),
    clusters: new ClusterOperations(deps),
    settings: new ClusterSettingsOperations(deps),
    versions: new VersionOperations(deps),
    move: new MoveOperations(deps),
    facts: new FactsOperations(deps),
    assignment: new AssignmentOperations(deps),
    nodes: new InventoryNodeOperations(deps),
    roles: new RoleOperations(deps),
    plugins: new PluginOperations(deps),
  };
  const maintenance = new MaintenanceOperations(deps, { ...graphs, sites, nodes });
  return {
    sites,
    runs,
    /** What runs try, in Temporal's own page. */
    attempts: new AttemptOperations(deps),
    /** Webhooks of repositories. */
    pushes: new PushOperations(deps, runs),
    /** Where notices about runs are sent. */
    notices: new NoticeOperations(deps),
    /** Runs that start at set times. */
    schedules: new ScheduleOperations(deps),
    ...graphs,
    /** What runs would do. */
    rehearsals: new RehearsalOperations(deps, graphs.deployments),
    nodes,
    /** Nodes that people work on. */
    maintenance,
    /** Machines, each with one health. */
    machines: new MachineOperations(deps, { sites, runs, maintenance, versions: inventory.versions }),
    /** What people mean by names. */
    names: new NameOperations(deps),
    /** What came of the checks of sites. */
    siteChecks: new SiteCheckOperations(deps),
    /** Differences between MAAS and the deployment. */
    drift: (site: string) => siteDrift(deps, sites, site),
    /** The agents of clusters' nodes, as Temporal knows them. */
    agents: {
      list: (cluster?: number) => callTemporal(deps.temporal, () => agentStates(deps, given({ cluster }))),
    },
    /** Builds of the workers. */
    workerVersions: new WorkerVersionOperations(deps),
    health: new HealthOperations(deps),
    system: () => systemIdentity(deps),
    /** Releases, clusters, their nodes and settings. */
    inventory,
    packages: new PackageOperations(deps),
    tags: new TagOperations(deps),
    /** Checks of a cluster before its next run. */
    checks: clusterChecks(deps),
    /** How the tasks of a cluster, and the nodes of a site, did in its last runs. */
    trends: trends(deps.store),
    /** The output of tasks on their nodes. */
    taskLogs: new TaskLogOperations(deps),
    /** Who may use the API. */
    tokens: new TokenOperations(deps.store),
    /** Who did what, newest first. */
    audit: { list: (filter?: AuditFilter) => deps.store.audit.list(filter) },
  };
}

/** What tells this system from others: people start a second one in another folder, and wonder where their sites are. */
async function systemIdentity({ store, temporal }: Pick<OpsDependencies, 'store' | 'temporal'>) {
  const [{ dialect, location, applied }, sites, clusters, runs] = await Promise.all([
    store.status(),
    store.sites.list(),
    store.clusters.list(),
    store.runs.list({ limit: 1 }),
  ]);
  const [first] = applied.map(({ appliedAt }) => appliedAt).toSorted();
  return {
    store: `${dialect} at ${location}`,
    since: first ?? new Date(0).toISOString(),
    temporal: `${temporal.address}, namespace ${temporal.namespace}`,
    empty: sites.length === 0 && clusters.length === 0 && runs.items.length === 0,
  };
}

const clusterChecks = (deps: Pick<OpsDependencies, 'store' | 'temporal' | 'tagExtensions'>) => ({
  /** Problems of a cluster before a run; of nodes only the problems of the given ones. */
  async check(cluster: number, nodes?: readonly number[]): Promise<readonly ClusterFinding[]> {
    const found = checkCluster(await readSources(deps, cluster), given({ nodes }));
    return [...found, ...(await missingAgents(deps, cluster, nodes))];
  },
});

/** The use cases of people and programs. API, CLI and page sit on top. */
import { given } from '../core/data/given.ts';
import type { AuditFilter } from '../store/index.ts';
import { agentStates } from './agent-presence.ts';
import type { OpsDependencies } from './dependencies.ts';
import { graphUseCases } from './graphs/index.ts';
import { healthOperations } from './health.ts';
import { inventoryOperations } from './inventory/index.ts';
import { machineOperations } from './machines.ts';
import { maintenanceOperations } from './maintenance.ts';
import { nameOperations } from './names.ts';
import { nodeOperations } from './nodes.ts';
import { noticeOperations } from './notices.ts';
import { packageOperations } from './packages/index.ts';
import { pushOperations } from './pushes.ts';
import { rehearsalOperations } from './rehearsals/index.ts';
import { runOperations } from './runs.ts';
import { scheduleOperations } from './schedules.ts';
import { siteDrift } from './site-drift.ts';
import { siteOperations } from './sites.ts';
import { systemIdentity } from './system-identity.ts';
import { clusterChecks } from './tags/cluster-checks.ts';
import { tagOperations } from './tags/index.ts';
import { taskLogOperations } from './task-logs.ts';
import { callTemporal } from './temporal-calls.ts';
import { tokenOperations } from './tokens.ts';
import { workerVersionOperations } from './worker-versions.ts';

export type { TagOwner } from '../store/index.ts';
export { AgentPresence } from './agent-presence.ts';
export type { OpsDependencies } from './dependencies.ts';
export type {
  ClusterLayer,
  DeploymentOptions,
  GraphSource,
  HistoryRecord,
  ShownTransaction,
  StartedDeployment,
  UploadedGraph,
} from './graphs/index.ts';
export type { ClusterView, NodeView, PluginWithTags } from './inventory/index.ts';
export { extendedReleases, hasUploadedFacts, isDeployable, vmwareAttributes } from './inventory/index.ts';
export type { InstalledPackage, PackageView } from './packages/index.ts';
export { asProblem, PROBLEM_CODES, type Problem, type ProblemCode, ProblemError, problem } from './problem.ts';
export { readerHere } from './reading/reader.ts';
export { type OpenReader, openReader } from './reading/reading-thread.ts';
export { type SignIn, SignInError, signIn } from './sign-in.ts';
export { viewStrategy } from './strategy.ts';
export { type TagExtension, type TagUpload, tagExtensionsOf } from './tags/index.ts';

export type { CreatedToken, Principal, SignedIn, TokenOperations } from './tokens.ts';

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(deps: OpsDependencies) {
  const sites = siteOperations(deps);
  const runs = runOperations(deps);
  const nodes = nodeOperations(deps, sites);
  const graphs = graphUseCases(deps, runs);
  const inventory = inventoryOperations(deps);
  const maintenance = maintenanceOperations(deps, { ...graphs, sites, nodes });
  return {
    sites,
    runs,
    /** Webhooks of repositories. */
    pushes: pushOperations(deps, runs),
    /** Where notices about runs are sent. */
    notices: noticeOperations(deps),
    /** Runs that start at set times. */
    schedules: scheduleOperations(deps),
    ...graphs,
    /** What runs would do. */
    rehearsals: rehearsalOperations(deps, sites, graphs.deployments.changes),
    nodes,
    /** Nodes that people work on. */
    maintenance,
    /** Machines, each with one health. */
    machines: machineOperations(deps, { sites, runs, inventory, maintenance }),
    /** What people mean by names. */
    names: nameOperations(deps.store),
    /** Differences between MAAS and the deployment. */
    drift: (site: string) => siteDrift(deps, sites, site),
    /** The agents of clusters' nodes, as Temporal knows them. */
    agents: {
      list: (cluster?: number) => callTemporal(deps.temporal, () => agentStates(deps, given({ cluster }))),
    },
    /** Builds of the workers. */
    workerVersions: workerVersionOperations(deps),
    health: healthOperations(deps),
    system: () => systemIdentity(deps),
    /** Releases, clusters, their nodes and settings. */
    inventory,
    packages: packageOperations(deps),
    tags: tagOperations(deps),
    /** Checks of a cluster before its next run. */
    checks: clusterChecks(deps),
    /** The output of tasks on their nodes. */
    taskLogs: taskLogOperations(deps),
    /** Who may use the API. */
    tokens: tokenOperations(deps.store),
    /** Who did what, newest first. */
    audit: { list: (filter?: AuditFilter) => deps.store.audit.list(filter) },
  };
}

/** The use cases of people and programs, and the only caller of Temporal's client. API, CLI and page sit on top. */
import type { AuditFilter } from '../store/index.js';
import { agentStates } from './agent-presence.js';
import type { OpsDependencies } from './dependencies.js';
import { graphUseCases } from './graphs/index.js';
import { healthOperations } from './health.js';
import { inventoryOperations } from './inventory/index.js';
import { nodeOperations } from './nodes.js';
import { noticeOperations } from './notices.js';
import { packageOperations } from './packages/index.js';
import { pushOperations } from './pushes.js';
import { runOperations } from './runs.js';
import { scheduleOperations } from './schedules.js';
import { siteDrift } from './site-drift.js';
import { siteOperations } from './sites.js';
import { clusterChecks } from './tags/cluster-checks.js';
import { tagOperations } from './tags/index.js';
import { taskLogOperations } from './task-logs.js';
import { callTemporal } from './temporal-calls.js';
import { tokenOperations } from './tokens.js';
import { workerVersionOperations } from './worker-versions.js';

export type { TagOwner } from '../store/index.js';
export { AgentPresence } from './agent-presence.js';
export type { OpsDependencies } from './dependencies.js';
export {
  type ClusterLayer,
  type ConfigTarget,
  type DeploymentOptions,
  fuelStatus,
  type GraphSource,
  type HistoryRecord,
  type StartedDeployment,
  type UploadedGraph,
} from './graphs/index.js';
export type { ClusterView, NodeView } from './inventory/index.js';
export { extendedReleases, hasUploadedFacts, isDeployable, vmwareAttributes } from './inventory/index.js';
export type { InstalledPackage, PackageView } from './packages/index.js';
export { asProblem, PROBLEM_CODES, type Problem, type ProblemCode, ProblemError, problem } from './problem.js';
export { type OpenReader, openReader, readerHere } from './reading/index.js';
export { type SignIn, SignInError, signIn } from './sign-in.js';
export { viewStrategy } from './strategy.js';
export { type TagExtension, type TagUpload, tagExtensionsOf } from './tags/index.js';

export type { CreatedToken, Principal, SignedIn, TokenOperations } from './tokens.js';

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(deps: OpsDependencies) {
  const sites = siteOperations(deps);
  const runs = runOperations(deps, sites);
  return {
    sites,
    runs,
    /** Webhooks of repositories. */
    pushes: pushOperations(deps, runs),
    /** Where notices about runs are sent. */
    notices: noticeOperations(deps),
    /** Runs that start at set times. */
    schedules: scheduleOperations(deps),
    ...graphUseCases(deps, runs),
    nodes: nodeOperations(deps, sites),
    /** What MAAS has now against what was deployed. */
    drift: (site: string) => siteDrift(deps, sites, site),
    /** The agents of clusters' nodes, as Temporal knows them. */
    agents: {
      list: (cluster?: number) =>
        callTemporal(deps.temporal, () => agentStates(deps, cluster === undefined ? {} : { cluster })),
    },
    /** Builds of the workers. */
    workerVersions: workerVersionOperations(deps),
    health: healthOperations(deps),
    /** Releases, clusters, their nodes and settings. */
    inventory: inventoryOperations(deps),
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

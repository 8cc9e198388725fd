/** The use cases of people and programs, and the only caller of Temporal's client. API, CLI and page sit on top. */
import type { AuditEntry, AuditFilter, Page } from '../store/index.js';
import type { OpsDependencies } from './dependencies.js';
import { type GraphUseCases, graphUseCases } from './graphs/index.js';
import { type HealthOperations, healthOperations } from './health.js';
import { type InventoryOperations, inventoryOperations } from './inventory/index.js';
import { type NodeOperations, nodeOperations } from './nodes.js';
import { type PackageOperations, packageOperations } from './packages/index.js';
import { type RunOperations, runOperations } from './runs.js';
import { type SiteOperations, siteOperations } from './sites.js';
import { type ClusterCheckOperations, clusterChecks } from './tags/cluster-checks.js';
import { type TagOperations, tagOperations } from './tags/index.js';
import { type TaskLogOperations, taskLogOperations } from './task-logs.js';
import { type TokenOperations, tokenOperations } from './tokens.js';

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
export { viewStrategy } from './strategy.js';
export { type TagExtension, type TagUpload, tagExtensionsOf } from './tags/index.js';

export type { CreatedToken, Principal, TokenOperations } from './tokens.js';

export interface Operations extends GraphUseCases {
  readonly sites: SiteOperations;
  readonly runs: RunOperations;
  readonly nodes: NodeOperations;
  readonly health: HealthOperations;
  /** Releases, clusters, their nodes and settings. */
  readonly inventory: InventoryOperations;
  readonly packages: PackageOperations;
  readonly tags: TagOperations;
  /** Checks of a cluster before its next run. */
  readonly checks: ClusterCheckOperations;
  /** The output of tasks on their nodes. */
  readonly taskLogs: TaskLogOperations;
  /** Who may use the API. */
  readonly tokens: TokenOperations;
  /** Who did what, newest first. */
  readonly audit: { list(filter?: AuditFilter): Promise<Page<AuditEntry>> };
}

export function createOperations(deps: OpsDependencies): Operations {
  const sites = siteOperations(deps);
  const runs = runOperations(deps);
  return {
    sites,
    runs,
    ...graphUseCases(deps, runs),
    nodes: nodeOperations(deps, sites),
    health: healthOperations(deps),
    inventory: inventoryOperations(deps),
    packages: packageOperations(deps),
    tags: tagOperations(deps),
    checks: clusterChecks(deps),
    taskLogs: taskLogOperations(deps),
    tokens: tokenOperations(deps.store),
    audit: { list: (filter) => deps.store.audit.list(filter) },
  };
}

/** Use cases: what people and programs want of Sitewright. The only caller of Temporal's client; shells sit on top. */
import type { AuditEntry, AuditFilter, Page } from '../store/index.js';
import type { OpsDependencies } from './dependencies.js';
import { type GraphUseCases, graphUseCases } from './graphs/index.js';
import { type HealthOperations, healthOperations } from './health.js';
import { type InventoryOperations, inventoryOperations } from './inventory/index.js';
import { type NodeOperations, nodeOperations } from './nodes.js';
import { type RunOperations, runOperations } from './runs.js';
import { type SiteOperations, siteOperations } from './sites.js';

export type { MaasCheck } from '../maas/index.js';
export type { OpsDependencies, TemporalAccess } from './dependencies.js';
export {
  type ClusterPlanView,
  type DeploymentOptions,
  fuelStatus,
  type GraphSource,
  type GraphUseCases,
  type HistoryRecord,
  type UploadedGraph,
} from './graphs/index.js';
export type { Health, HealthCheck } from './health.js';
export type {
  ClusterView,
  InventoryOperations,
  NetworkProvider,
  NodePart,
  NodeView,
  Role,
  RoleOwner,
} from './inventory/index.js';
export { extendedReleases, hasUploadedFacts, isDeployable } from './inventory/index.js';
export type { NodeStatus, NodeStatuses } from './nodes.js';
export { asProblem, PROBLEM_CODES, type Problem, type ProblemCode, ProblemError, problem } from './problem.js';
export type { OperatorRequest, RunView } from './runs.js';
export type { CommitAnswer, CommitRequest, DocumentCheck } from './sites.js';
export { type StrategyView, viewStrategy } from './strategy.js';

export interface Operations extends GraphUseCases {
  readonly sites: SiteOperations;
  readonly runs: RunOperations;
  readonly nodes: NodeOperations;
  readonly health: HealthOperations;
  /** Releases, clusters, their nodes and settings: what graphs run on. */
  readonly inventory: InventoryOperations;
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
    audit: { list: (filter) => deps.store.audit.list(filter) },
  };
}

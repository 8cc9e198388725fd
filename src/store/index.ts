export type { DialectName } from './backend.js';
export { type ConflictUser, StoreError, type StoreFailure, type StoreFailureKind } from './failure.js';
export { isSiteName } from './input.js';
export type { Migration } from './migrations/migration.js';
export { type OpenStoreOptions, openStore } from './open-store.js';
export type { ApiToken, ApiTokenStore, NewApiToken } from './ports/api-token-store.js';
export type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry } from './ports/audit-store.js';
export type { ClusterClaim, ClusterClaimStore } from './ports/cluster-claim-store.js';
export type { ClusterChange, ClusterDetails, ClusterRecord, ClusterStore, NewCluster } from './ports/cluster-store.js';
export type {
  GraphContent,
  GraphFilter,
  GraphLayers,
  GraphOwner,
  GraphRecord,
  GraphStore,
  GraphWithTasks,
  StoredTask,
} from './ports/graph-store.js';
export type { NodeFact, NodeFactStore, NodeSighting } from './ports/node-fact-store.js';
export type {
  NewEnrolmentToken,
  NodeCertificate,
  NodeIdentityStore,
  SignedOrderKey,
  TokenRedemption,
} from './ports/node-identity-store.js';
export type { NewNode, NodeChange, NodeFilter, NodeRecord, NodeStore } from './ports/node-store.js';
export type { NewPackage, PackageRecord, PackageStore } from './ports/package-store.js';
export type { Json, JsonFields, JsonObject, Page, PageRequest } from './ports/page.js';
export type { NewPlan, PlanOrder, PlanStore } from './ports/plan-store.js';
export type { ClusterPlugin, NewPlugin, PluginChange, PluginRecord, PluginStore } from './ports/plugin-store.js';
export type { NewRelease, ReleaseChange, ReleaseRecord, ReleaseStore } from './ports/release-store.js';
export type {
  NodeHistoryEntry,
  RunCount,
  RunFilter,
  RunNode,
  RunNodeWrite,
  RunRecord,
  RunStore,
  RunSummary,
  RunWrite,
} from './ports/run-store.js';
export type { SequenceRecord, SequenceStore } from './ports/sequence-store.js';
export type { ClaimHolder, ClaimResult, SiteClaim, SiteClaimStore } from './ports/site-claim-store.js';
export {
  type NewRevision,
  parseRevisionReference,
  type RevisionContent,
  type RevisionDeployment,
  type RevisionFile,
  type RevisionRecord,
  type RevisionReference,
  type SiteRecord,
  type SiteStore,
} from './ports/site-store.js';
export type { MigrationInfo, Store, StorePorts, StoreStatus } from './ports/store.js';
export type {
  NewTag,
  NewTagAssignment,
  TagAssignment,
  TagAssignmentFilter,
  TagOwner,
  TagRecord,
  TagSource,
  TagStore,
} from './ports/tag-store.js';
export type {
  FuelTaskStatus,
  PlannedTaskRow,
  TaskHistoryFilter,
  TaskHistoryRow,
  TaskHistoryStatus,
  TaskHistoryStore,
  TaskHistoryWrite,
} from './ports/task-history-store.js';
export { fuelTaskStatus } from './ports/task-history-store.js';
export type { TaskStateStore, TaskStates, TaskStateWrite } from './ports/task-state-store.js';
export type {
  NewRun,
  NewTransaction,
  RunTransactions,
  SnapshotKind,
  TransactionChange,
  TransactionFilter,
  TransactionRecord,
  TransactionStatus,
  TransactionStore,
} from './ports/transaction-store.js';
export type { StoreCall } from './session.js';
export { parseStoreUrl, type StoreLocation } from './store-url.js';

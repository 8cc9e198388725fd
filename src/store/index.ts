export { notFound, StoreError, type StoreFailure, unlessNotFound } from './failure.ts';
export type { Migration } from './migrations/migration.ts';
export type { OpenStoreOptions } from './open-options.ts';
export { openStore } from './open-store.ts';
export type * from './page.ts';
export type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry } from './queries/audit.ts';
export type { Claim, Claimant, ClaimHolder } from './queries/claims.ts';
export type { ClusterDetails, ClusterRecord } from './queries/clusters.ts';
export type { StoreCopy } from './queries/copy-store.ts';
export type { DeployedMachine } from './queries/deployed-machines.ts';
export type { GraphContent, GraphFilter, StoredGraph } from './queries/graphs.ts';
export type { Maintenance } from './queries/maintenance.ts';
export type { NodeCertificate, NodeIdentityStore, TokenRefusal } from './queries/node-identities.ts';
export type { NodeChange, NodeFilter, NodeRecord } from './queries/nodes.ts';
export type { GraphOwner } from './queries/owner-columns.ts';
export type { PackageRecord, PackageStore } from './queries/packages.ts';
export type { PermitRow } from './queries/permits.ts';
export type { NewPlan, PlanRange, PlanStore } from './queries/plans.ts';
export type { PluginRecord } from './queries/plugins.ts';
export type { ReleaseRecord } from './queries/releases.ts';
export { CLOSING, sequenceIn } from './queries/run-sequence.ts';
export type { HistoryWrite, PlannedRow, TaskHistoryRow } from './queries/run-tasks.ts';
export type { NodeHistoryEntry, RunFilter, RunNodeWrite, RunRecord, RunSummary, RunWrite } from './queries/runs.ts';
export type { SequenceRecord } from './queries/sequences.ts';
export {
  parseRevisionReference,
  type ResolvedRevision,
  type RevisionRecord,
  type RevisionReference,
  type SiteRecord,
} from './queries/sites.ts';
export type { NewTagAssignment, TagAssignment } from './queries/tag-assignments.ts';
export type { NewTag, TagOwner, TagRecord } from './queries/tags.ts';
export type { SavedStates } from './queries/task-states.ts';
export type { ApiToken } from './queries/tokens.ts';
export type { NewRun, TransactionFilter, TransactionRecord } from './queries/transaction-row.ts';
export { endedWithRun, type RunTransactions, type SnapshotKind } from './queries/transactions.ts';
export type { StoreCall } from './session.ts';
export type * from './store.ts';
export { parseStoreUrl } from './store-url.ts';

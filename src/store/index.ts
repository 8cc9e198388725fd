export type { DialectName } from './backend.js';
export { StoreError, type StoreFailure, type StoreFailureKind } from './failure.js';
export { isSiteName } from './input.js';
export type { Migration } from './migrations/migration.js';
export { type OpenStoreOptions, openStore } from './open-store.js';
export type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry } from './ports/audit-store.js';
export type { NodeFact, NodeFactStore, NodeSighting } from './ports/node-fact-store.js';
export type { Json, Page, PageRequest } from './ports/page.js';
export type {
  NodeHistoryEntry,
  RunFilter,
  RunNode,
  RunNodeWrite,
  RunRecord,
  RunStore,
  RunSummary,
  RunWrite,
} from './ports/run-store.js';
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
export type { MigrationInfo, Store, StoreStatus } from './ports/store.js';
export { parseStoreUrl, type StoreLocation } from './store-url.js';

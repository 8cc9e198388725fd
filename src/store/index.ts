export { StoreError, type StoreFailure } from './failure.js';
export {
  type AnnounceEnd,
  claimFor,
  closeGoneRuns,
  closeIfGone,
  closeRun,
  type EndOf,
  endIfGone,
  type IsOpen,
  MOST_OPEN,
  type RunEnd,
  reopenRun,
} from './gone-holders.js';
export type { Migration } from './migrations/migration.js';
export { type OpenStoreOptions, openStore } from './open-store.js';
export type * from './ports/api-token-store.js';
export type * from './ports/audit-store.js';
export type * from './ports/claim-store.js';
export type * from './ports/cluster-store.js';
export type * from './ports/deployed-machine-store.js';
export type * from './ports/graph-store.js';
export type * from './ports/node-fact-store.js';
export type * from './ports/node-identity-store.js';
export type * from './ports/node-store.js';
export type * from './ports/notice-store.js';
export type * from './ports/openstack-config-store.js';
export type * from './ports/package-store.js';
export type * from './ports/page.js';
export type * from './ports/plan-store.js';
export type * from './ports/plugin-store.js';
export type * from './ports/release-store.js';
export type * from './ports/run-store.js';
export type * from './ports/sequence-store.js';
export * from './ports/site-store.js';
export type * from './ports/store.js';
export type * from './ports/tag-store.js';
export * from './ports/task-history-store.js';
export type * from './ports/task-state-store.js';
export type * from './ports/transaction-store.js';
export type { StoreCall } from './session.js';
export { parseStoreUrl } from './store-url.js';

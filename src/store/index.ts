export { StoreError, type StoreFailure } from './failure.ts';
export {
  type AnnounceEnd,
  claimFor,
  closeGoneRuns,
  closeIfGone,
  closeRun,
  type EndOf,
  endIfGone,
  type IsOpen,
  MAX_OPEN,
  type RunEnd,
  reopenRun,
} from './gone-holders.ts';
export type { Migration } from './migrations/migration.ts';
export { type OpenStoreOptions, openStore } from './open-store.ts';
export type * from './ports/api-token-store.ts';
export type * from './ports/audit-store.ts';
export type * from './ports/claim-store.ts';
export type * from './ports/cluster-store.ts';
export type * from './ports/deployed-machine-store.ts';
export type * from './ports/graph-store.ts';
export type * from './ports/node-fact-store.ts';
export type * from './ports/node-identity-store.ts';
export type * from './ports/node-store.ts';
export type * from './ports/notice-store.ts';
export type * from './ports/openstack-config-store.ts';
export type * from './ports/package-store.ts';
export type * from './ports/page.ts';
export type * from './ports/plan-store.ts';
export type * from './ports/plugin-store.ts';
export type * from './ports/release-store.ts';
export type * from './ports/run-store.ts';
export type * from './ports/sequence-store.ts';
export * from './ports/site-store.ts';
export type * from './ports/store.ts';
export type * from './ports/tag-store.ts';
export * from './ports/task-history-store.ts';
export type * from './ports/task-state-store.ts';
export type * from './ports/transaction-store.ts';
export type { StoreCall } from './session.ts';
export { parseStoreUrl } from './store-url.ts';

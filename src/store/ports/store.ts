import type { ApiTokenStore } from './api-token-store.js';
import type { AuditStore } from './audit-store.js';
import type { ClaimStore } from './claim-store.js';
import type { ClusterStore } from './cluster-store.js';
import type { GraphStore } from './graph-store.js';
import type { NodeFactStore } from './node-fact-store.js';
import type { NodeIdentityStore } from './node-identity-store.js';
import type { NodeStore } from './node-store.js';
import type { PackageStore } from './package-store.js';
import type { PlanStore } from './plan-store.js';
import type { PluginStore } from './plugin-store.js';
import type { ReleaseStore } from './release-store.js';
import type { RunStore } from './run-store.js';
import type { SequenceStore } from './sequence-store.js';
import type { SiteStore } from './site-store.js';
import type { TagStore } from './tag-store.js';
import type { TaskHistoryStore } from './task-history-store.js';
import type { TaskStateStore } from './task-state-store.js';
import type { TransactionStore } from './transaction-store.js';

/** One numbered step of the schema. */
export interface MigrationInfo {
  readonly version: number;
  readonly name: string;
  /**
   * True when a running process of the release before cannot work with the schema after it: stop all processes first.
   */
  readonly breaking: boolean;
}

export interface StoreStatus {
  readonly dialect: 'sqlite' | 'postgres';
  /** Address without password. */
  readonly location: string;
  /** Version of the schema in the database; 0 for an empty one. */
  readonly schemaVersion: number;
  /** Version this program is made for. */
  readonly knownVersion: number;
  readonly applied: readonly (MigrationInfo & { readonly appliedAt: string })[];
  readonly pending: readonly MigrationInfo[];
}

/** What is kept, each subject behind a port of its own. */
export interface StorePorts {
  readonly sites: SiteStore;
  readonly runs: RunStore;
  readonly claims: ClaimStore;
  readonly audit: AuditStore;
  readonly nodeFacts: NodeFactStore;
  readonly nodeIdentities: NodeIdentityStore;
  readonly apiTokens: ApiTokenStore;
  readonly packages: PackageStore;
  readonly releases: ReleaseStore;
  readonly plugins: PluginStore;
  readonly clusters: ClusterStore;
  readonly nodes: NodeStore;
  readonly tags: TagStore;
  readonly graphs: GraphStore;
  readonly sequences: SequenceStore;
  readonly transactions: TransactionStore;
  readonly taskHistory: TaskHistoryStore;
  readonly plans: PlanStore;
  readonly taskStates: TaskStateStore;
}

/**
 * All that is kept outside Temporal. Every call either succeeds or throws a `StoreError`; what a call has answered is
 * in the database and survives the death of the process. Safe to use from many callers and many processes at once.
 */
export interface Store extends StorePorts {
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Makes several calls one change: all of them or, when `change` throws, none. It must use only the ports it is
   * handed, and nothing outside the store: it may run more than once.
   */
  atomically<T>(change: (within: StorePorts) => Promise<T>): Promise<T>;
  /**
   * Brings the schema up to date and answers what was applied (nothing, when it was). Several processes may call it at
   * once: one does the work, the others wait. @throws `schema-too-new`
   */
  migrate(): Promise<readonly MigrationInfo[]>;
  /** Reads the schema's version; also the way to ask whether the database answers. */
  status(): Promise<StoreStatus>;
  /** Waits for calls under way and lets go of the database. Calls after it fail as `closed`. May be repeated. */
  close(): Promise<void>;
}

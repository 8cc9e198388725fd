import type { ApiTokenStore } from './api-token-store.ts';
import type { AuditStore } from './audit-store.ts';
import type { ClaimStore } from './claim-store.ts';
import type { ClusterStore } from './cluster-store.ts';
import type { DeployedMachineStore } from './deployed-machine-store.ts';
import type { GraphStore } from './graph-store.ts';
import type { NodeFactStore } from './node-fact-store.ts';
import type { NodeIdentityStore } from './node-identity-store.ts';
import type { NodeStore } from './node-store.ts';
import type { NoticeStore } from './notice-store.ts';
import type { OpenstackConfigStore } from './openstack-config-store.ts';
import type { PackageStore } from './package-store.ts';
import type { PlanStore } from './plan-store.ts';
import type { PluginStore } from './plugin-store.ts';
import type { ReleaseStore } from './release-store.ts';
import type { RunStore } from './run-store.ts';
import type { SequenceStore } from './sequence-store.ts';
import type { SiteStore } from './site-store.ts';
import type { TagStore } from './tag-store.ts';
import type { TaskHistoryStore } from './task-history-store.ts';
import type { TaskStateStore } from './task-state-store.ts';
import type { TransactionStore } from './transaction-store.ts';

/** One numbered step of the schema. */
export interface MigrationInfo {
  readonly version: number;
  readonly name: string;
  /** True when running processes of the previous release cannot work with the new schema: stop them all first. */
  readonly breaking: boolean;
}

export interface StoreStatus {
  readonly dialect: 'sqlite' | 'postgres';
  /** Address without password. */
  readonly location: string;
  /** Version of the schema in the database; 0 for an empty one. */
  readonly schemaVersion: number;
  /** Schema version of this program. */
  readonly knownVersion: number;
  readonly applied: readonly (MigrationInfo & { readonly appliedAt: string })[];
  readonly pending: readonly MigrationInfo[];
}

/** The ports of the store, one per subject. */
export interface StorePorts {
  readonly sites: SiteStore;
  readonly runs: RunStore;
  readonly claims: ClaimStore;
  readonly audit: AuditStore;
  readonly notices: NoticeStore;
  readonly deployedMachines: DeployedMachineStore;
  readonly nodeFacts: NodeFactStore;
  readonly nodeIdentities: NodeIdentityStore;
  readonly apiTokens: ApiTokenStore;
  readonly packages: PackageStore;
  readonly releases: ReleaseStore;
  readonly plugins: PluginStore;
  readonly clusters: ClusterStore;
  readonly nodes: NodeStore;
  readonly openstackConfigs: OpenstackConfigStore;
  readonly tags: TagStore;
  readonly graphs: GraphStore;
  readonly sequences: SequenceStore;
  readonly transactions: TransactionStore;
  readonly taskHistory: TaskHistoryStore;
  readonly plans: PlanStore;
  readonly taskStates: TaskStateStore;
}

/**
 * All data outside Temporal. Every call either succeeds or throws a `StoreError`; once a call returns, its change
 * survives a crash of the process. Safe for concurrent use by many callers and processes.
 */
export interface Store extends StorePorts {
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Makes several calls atomic: all of them apply or, if `change` throws, none. `change` may run more than once, so it
   * must use only the ports it receives and nothing outside the store.
   */
  atomically<T>(change: (within: StorePorts) => Promise<T>): Promise<T>;
  /**
   * Migrates the schema and returns what was applied, if anything. Several processes may call it at once: one migrates,
   * the others wait.
   *
   * @param spareRunning change nothing if a pending migration breaks running processes of an earlier release
   * @throws `schema-too-new`, `schema-behind`
   */
  migrate(spareRunning?: boolean): Promise<readonly MigrationInfo[]>;
  /** Reads the schema version; also checks that the database answers. */
  status(): Promise<StoreStatus>;
  /** Waits for pending calls and closes the database. Later calls fail as `closed`. May be repeated. */
  close(): Promise<void>;
}

import type { AuditStore } from './queries/audit.ts';
import type { CheckResultStore } from './queries/check-results.ts';
import type { ClaimStore } from './queries/claims.ts';
import type { ClusterStore } from './queries/clusters.ts';
import type { CopyStore } from './queries/copy-store.ts';
import type { DeployedMachineStore } from './queries/deployed-machines.ts';
import type { NodeFactStore } from './queries/facts.ts';
import type { GivenTagsStore } from './queries/given-tags.ts';
import type { GraphStore } from './queries/graphs.ts';
import type { NodeMaintenanceStore } from './queries/maintenance.ts';
import type { NodeIdentityStore } from './queries/node-identities.ts';
import type { NodeStore } from './queries/nodes.ts';
import type { NoticeStore } from './queries/notices.ts';
import type { PackageStore } from './queries/packages.ts';
import type { PermitStore } from './queries/permits.ts';
import type { PlanStore } from './queries/plans.ts';
import type { PluginStore } from './queries/plugins.ts';
import type { ReleaseStore } from './queries/releases.ts';
import type { TaskHistoryStore } from './queries/run-tasks.ts';
import type { RunStore } from './queries/runs.ts';
import type { SequenceStore } from './queries/sequences.ts';
import type { SettingsRevisionStore } from './queries/settings.ts';
import type { SiteStore } from './queries/sites.ts';
import type { TagStore } from './queries/tags.ts';
import type { TaskStateStore } from './queries/task-states.ts';
import type { ApiTokenStore } from './queries/tokens.ts';
import type { TransactionStore } from './queries/transactions.ts';

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
  readonly permits: PermitStore;
  readonly checkResults: CheckResultStore;
  readonly audit: AuditStore;
  readonly notices: NoticeStore;
  readonly deployedMachines: DeployedMachineStore;
  readonly givenTags: GivenTagsStore;
  readonly nodeFacts: NodeFactStore;
  readonly nodeMaintenance: NodeMaintenanceStore;
  readonly nodeIdentities: NodeIdentityStore;
  readonly apiTokens: ApiTokenStore;
  readonly packages: PackageStore;
  readonly releases: ReleaseStore;
  readonly plugins: PluginStore;
  readonly clusters: ClusterStore;
  readonly settingsRevisions: SettingsRevisionStore;
  readonly nodes: NodeStore;
  readonly tags: TagStore;
  readonly graphs: GraphStore;
  readonly sequences: SequenceStore;
  readonly transactions: TransactionStore;
  readonly taskHistory: TaskHistoryStore;
  readonly plans: PlanStore;
  readonly taskStates: TaskStateStore;
  readonly copies: CopyStore;
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
   * Migrates the schema and returns what was applied, if anything. Several processes may call it concurrently: one migrates,
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

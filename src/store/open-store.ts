import type { Backend } from './backend.js';
import { StoreError } from './failure.js';
import { migrations } from './migrations/index.js';
import type { Migration } from './migrations/migration.js';
import { Migrator } from './migrations/migrator.js';
import type { Store, StorePorts } from './ports/store.js';
import { SqlApiTokenStore } from './queries/api-token-store.js';
import { SqlAuditStore } from './queries/audit-store.js';
import { SqlClaimStore } from './queries/claim-store.js';
import { SqlClusterStore } from './queries/cluster-store.js';
import { SqlDeployedMachineStore } from './queries/deployed-machine-store.js';
import { SqlGraphStore } from './queries/graph-store.js';
import { SqlNodeFactStore } from './queries/node-fact-store.js';
import { SqlNodeIdentityStore } from './queries/node-identity-store.js';
import { SqlNodeStore } from './queries/node-store.js';
import { SqlNoticeStore } from './queries/notice-store.js';
import { SqlOpenstackConfigStore } from './queries/openstack-config-store.js';
import { SqlPackageStore } from './queries/package-store.js';
import { SqlPlanStore } from './queries/plan-store.js';
import { SqlPluginStore } from './queries/plugin-store.js';
import { SqlReleaseStore } from './queries/release-store.js';
import { SqlRunStore } from './queries/run-store.js';
import { SqlSequenceStore } from './queries/sequence-store.js';
import { SqlSiteStore } from './queries/site-store.js';
import { SqlTagStore } from './queries/tag-store.js';
import { SqlTaskHistoryStore } from './queries/task-history-store.js';
import { SqlTaskStateStore } from './queries/task-state-store.js';
import { SqlTransactionStore } from './queries/transaction-store.js';
import { Session, type StoreCall } from './session.js';
import { parseStoreUrl, type StoreLocation } from './store-url.js';

export interface OpenStoreOptions {
  /**
   * What to do about a schema that is behind:
   * - `apply`: migrate it. The default for SQLite, which no other release shares.
   * - `apply-non-breaking`: the same, unless running processes of an older release would break; then like `require`.
   *   The default for PostgreSQL. An empty database is always migrated.
   * - `require`: fail as `schema-behind`. The default with `readOnly`.
   * - `ignore`: open it anyway, for `status()` and `migrate()`.
   */
  readonly migrations?: 'apply' | 'apply-non-breaking' | 'require' | 'ignore';
  /** Every change fails as `read-only`; a missing database is not created. */
  readonly readOnly?: boolean;
  /**
   * SQLite: what a committed change survives. `process` (default): a crash of any process. `power`: a crash of the
   * machine too, at the cost of one disk flush per change. PostgreSQL follows its server's settings.
   */
  readonly durability?: 'process' | 'power';
  /** PostgreSQL: maximum number of connections; default 10. */
  readonly connections?: number;
  /** Called after each call. */
  readonly onCall?: (call: StoreCall) => void;
  /** Replaces the program's migrations, for tests of the migrator. */
  readonly knownMigrations?: readonly Migration[];
}

/**
 * Opens the store at `sqlite:/path/file.db`, a file path, `sqlite::memory:` or `postgres://…`, and by default creates
 * or updates its tables. Loads only the driver it needs.
 *
 * @throws StoreError
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const backend = await openBackend(parseStoreUrl(url), options);
  const session = new Session(backend, options.onCall);
  const migrator = new Migrator(session, options.knownMigrations ?? migrations);
  try {
    await prepareSchema(migrator, backend, options);
  } catch (error) {
    await session.close();
    throw error;
  }
  return {
    ...portsOf(session),
    dialect: backend.name,
    atomically: (change) => session.atomically((within) => change(portsOf(within))),
    migrate: (spareRunning) => migrator.migrate(spareRunning),
    async status() {
      await backend.checkPlace();
      return migrator.status();
    },
    close: () => session.close(),
  };
}

/** All ports over one session. Over a session within a transaction, their changes are atomic. */
function portsOf(session: Session): StorePorts {
  return {
    sites: new SqlSiteStore(session),
    runs: new SqlRunStore(session),
    claims: new SqlClaimStore(session),
    audit: new SqlAuditStore(session),
    notices: new SqlNoticeStore(session),
    deployedMachines: new SqlDeployedMachineStore(session),
    nodeFacts: new SqlNodeFactStore(session),
    nodeIdentities: new SqlNodeIdentityStore(session),
    apiTokens: new SqlApiTokenStore(session),
    packages: new SqlPackageStore(session),
    releases: new SqlReleaseStore(session),
    plugins: new SqlPluginStore(session),
    clusters: new SqlClusterStore(session),
    nodes: new SqlNodeStore(session),
    openstackConfigs: new SqlOpenstackConfigStore(session),
    tags: new SqlTagStore(session),
    graphs: new SqlGraphStore(session),
    sequences: new SqlSequenceStore(session),
    transactions: new SqlTransactionStore(session),
    taskHistory: new SqlTaskHistoryStore(session),
    plans: new SqlPlanStore(session),
    taskStates: new SqlTaskStateStore(session),
  };
}

async function openBackend(location: StoreLocation, options: OpenStoreOptions): Promise<Backend> {
  if (location.dialect === 'sqlite') {
    const { openSqlite } = await loadDriver('better-sqlite3', () => import('./sqlite/backend.js'));
    return openSqlite(location.file, location.shown, options);
  }
  const { openPostgres } = await loadDriver('pg', () => import('./postgres/backend.js'));
  return openPostgres(location, options);
}

async function loadDriver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new StoreError(
      {
        kind: 'driver-missing',
        message: `The database driver ${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
        hint: `Run npm ci again; if the driver is there but made for another Node.js, run: npm rebuild ${name}`,
      },
      { cause: error },
    );
  }
}

async function prepareSchema(migrator: Migrator, backend: Backend, options: OpenStoreOptions): Promise<void> {
  const wanted = options.migrations ?? (options.readOnly ? 'require' : backend.usualMigrations);
  if (wanted === 'ignore') return;
  if (wanted === 'require') return migrator.assertCurrent();
  await migrator.migrate(wanted === 'apply-non-breaking');
}

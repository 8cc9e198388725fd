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
import { SqlGraphStore } from './queries/graph-store.js';
import { SqlNodeFactStore } from './queries/node-fact-store.js';
import { SqlNodeIdentityStore } from './queries/node-identity-store.js';
import { SqlNodeStore } from './queries/node-store.js';
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
   * - `apply`: bring it up to date. The default for SQLite, which is ours alone.
   * - `apply-non-breaking`: the same, unless running processes of an older release would break; then as `require`.
   *   The default for PostgreSQL. An empty database is always brought up to date.
   * - `require`: fail as `schema-behind`. The default with `readOnly`.
   * - `ignore`: open all the same, for `status()` and `migrate()`.
   */
  readonly migrations?: 'apply' | 'apply-non-breaking' | 'require' | 'ignore';
  /** Every change fails as `read-only`; a missing database is not created. */
  readonly readOnly?: boolean;
  /**
   * SQLite: what a change that was answered survives. `process` (default): the death of any process. `power`: of the
   * machine too, for one disk flush per change. PostgreSQL does what its server is set to.
   */
  readonly durability?: 'process' | 'power';
  /** PostgreSQL: most connections at once; 10 when absent. */
  readonly connections?: number;
  /** Told of each call that has ended. */
  readonly onCall?: (call: StoreCall) => void;
  /** Instead of the program's own. For tests of the migrator. */
  readonly knownMigrations?: readonly Migration[];
}

/**
 * Opens the store at `sqlite:/path/file.db`, a file path, `sqlite::memory:` or `postgres://…`, and by default makes or
 * updates its tables. Only the driver that is needed is loaded.
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
    migrate: () => migrator.migrate(),
    status: () => migrator.status(),
    close: () => session.close(),
  };
}

/** All ports over one session; over one within a transaction their changes are one. */
function portsOf(session: Session): StorePorts {
  return {
    sites: new SqlSiteStore(session),
    runs: new SqlRunStore(session),
    claims: new SqlClaimStore(session),
    audit: new SqlAuditStore(session),
    nodeFacts: new SqlNodeFactStore(session),
    nodeIdentities: new SqlNodeIdentityStore(session),
    apiTokens: new SqlApiTokenStore(session),
    packages: new SqlPackageStore(session),
    releases: new SqlReleaseStore(session),
    plugins: new SqlPluginStore(session),
    clusters: new SqlClusterStore(session),
    nodes: new SqlNodeStore(session),
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
  if (wanted === 'apply-non-breaking') {
    const { schemaVersion, pending } = await migrator.status();
    if (schemaVersion > 0 && pending.some((migration) => migration.breaking)) return migrator.assertCurrent();
  }
  await migrator.migrate();
}

import type { Backend } from './backend.ts';
import { Migrator, migrations } from './migrations/migrator.ts';
import type { OpenStoreOptions } from './open-options.ts';
import { AuditStore } from './queries/audit.ts';
import { CheckResultStore } from './queries/check-results.ts';
import { ClaimStore } from './queries/claims.ts';
import { ClusterStore } from './queries/clusters.ts';
import { CopyStore } from './queries/copy-store.ts';
import { DeployedMachineStore } from './queries/deployed-machines.ts';
import { NodeFactStore } from './queries/facts.ts';
import { GivenTagsStore } from './queries/given-tags.ts';
import { GraphStore } from './queries/graphs.ts';
import { NodeMaintenanceStore } from './queries/maintenance.ts';
import { NodeIdentityStore } from './queries/node-identities.ts';
import { NodeStore } from './queries/nodes.ts';
import { NoticeStore } from './queries/notices.ts';
import { PackageStore } from './queries/packages.ts';
import { PermitStore } from './queries/permits.ts';
import { PlanStore } from './queries/plans.ts';
import { PluginStore } from './queries/plugins.ts';
import { ReleaseStore } from './queries/releases.ts';
import { TaskHistoryStore } from './queries/run-tasks.ts';
import { RunStore } from './queries/runs.ts';
import { SequenceStore } from './queries/sequences.ts';
import { SettingsRevisionStore } from './queries/settings.ts';
import { SiteStore } from './queries/sites.ts';
import { TagStore } from './queries/tags.ts';
import { TaskStateStore } from './queries/task-states.ts';
import { ApiTokenStore } from './queries/tokens.ts';
import { TransactionStore } from './queries/transactions.ts';
import { Session } from './session.ts';
import type { Store, StorePorts } from './store.ts';
import { parseStoreUrl, type StoreLocation } from './store-url.ts';

/**
 * Opens the store at `sqlite:/path/file.db`, a file path, `sqlite::memory:` or `postgres://…`, and by default creates
 * or updates its tables. Loads only the driver it needs.
 *
 * @throws StoreError
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const backend = await openBackend(parseStoreUrl(url), options);
  return storeIn(new Session(backend, options.onCall), options);
}

/** The store in a database that is open. Closes it if it cannot be used. */
export async function storeIn(session: Session, options: OpenStoreOptions = {}): Promise<Store> {
  const { backend } = session;
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
    sites: new SiteStore(session),
    runs: new RunStore(session),
    claims: new ClaimStore(session),
    permits: new PermitStore(session),
    checkResults: new CheckResultStore(session),
    audit: new AuditStore(session),
    notices: new NoticeStore(session),
    deployedMachines: new DeployedMachineStore(session),
    givenTags: new GivenTagsStore(session),
    nodeFacts: new NodeFactStore(session),
    settingsRevisions: new SettingsRevisionStore(session),
    nodeMaintenance: new NodeMaintenanceStore(session),
    nodeIdentities: new NodeIdentityStore(session),
    apiTokens: new ApiTokenStore(session),
    packages: new PackageStore(session),
    releases: new ReleaseStore(session),
    plugins: new PluginStore(session),
    clusters: new ClusterStore(session),
    nodes: new NodeStore(session),
    tags: new TagStore(session),
    graphs: new GraphStore(session),
    sequences: new SequenceStore(session),
    transactions: new TransactionStore(session),
    taskHistory: new TaskHistoryStore(session),
    plans: new PlanStore(session),
    taskStates: new TaskStateStore(session),
    copies: new CopyStore(session),
  };
}

async function openBackend(location: StoreLocation, options: OpenStoreOptions): Promise<Backend> {
  if (location.dialect === 'sqlite') {
    const { openSqlite } = await import('./sqlite/backend.ts');
    return openSqlite(location.file, location.shown, options);
  }
  const { openPostgres } = await import('./postgres/backend.ts');
  return openPostgres(location, options);
}

async function prepareSchema(migrator: Migrator, backend: Backend, options: OpenStoreOptions): Promise<void> {
  const wanted = options.migrations ?? (options.readOnly ? 'require' : backend.usualMigrations);
  if (wanted === 'ignore') return;
  if (wanted === 'require') return migrator.assertCurrent();
  await migrator.migrate(wanted === 'apply-non-breaking');
}

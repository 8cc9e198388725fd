import type { Kysely, Transaction } from 'kysely';
import { conflict } from '../failure.js';
import { InputCheck, storable } from '../input.js';
import type { ClusterChange, ClusterDetails, ClusterRecord, ClusterStore, NewCluster } from '../ports/cluster-store.js';
import type { Json, JsonObject } from '../ports/page.js';
import type { Session } from '../session.js';
import type { ClusterRow } from '../tables/cluster-rows.js';
import type { Tables } from '../tables.js';
import { dropContents } from './contents.js';
import { createDefaultGraph } from './default-graph.js';
import { deleteRow, holdRow, isId, readRow, rowNotFound } from './identified-row.js';
import { releaseNodes } from './node-release.js';
import { assertNoOpenRun } from './open-run.js';
import { removeTransactions } from './transaction-removal.js';

const BRIEF = [
  'id',
  'name',
  'releaseId',
  'pendingReleaseId',
  'mode',
  'netProvider',
  'status',
  'site',
  'isLocked',
  'components',
  'uiSettings',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof ClusterRow)[];
type BriefRow = Pick<ClusterRow, (typeof BRIEF)[number]>;

/** ClusterStore on either database. Whoever changes what belongs to a cluster holds its row first. */
export class SqlClusterStore implements ClusterStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async create(cluster: NewCluster): Promise<ClusterDetails> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const { name, releaseId, ...others } = cluster;
    const columns = columnsOf(check, others);
    const row = {
      name: check.key('name', name),
      releaseId,
      pendingReleaseId: null,
      mode: columns.mode ?? 'ha_compact',
      netProvider: columns.netProvider ?? 'neutron',
      status: columns.status ?? 'new',
      site: columns.site ?? null,
      isLocked: columns.isLocked ?? 0,
      components: columns.components ?? '[]',
      uiSettings: columns.uiSettings ?? '{}',
      attributes: columns.attributes ?? '{}',
      deploymentInfo: '{"common":{},"nodes":{}}',
      networkConfig: columns.networkConfig ?? '{}',
      anyChoices: '{}',
      createdAt: now,
      updatedAt: now,
    };
    check.done();
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'release', row.releaseId);
      const stored = await transaction
        .insertInto('cluster')
        .values(row)
        .onConflict((on) => on.column('name').doNothing())
        .returningAll()
        .executeTakeFirst();
      if (stored === undefined) throw taken(row.name);
      await createDefaultGraph(transaction, { kind: 'cluster', id: stored.id });
      return detailsOf(stored, {});
    });
  }

  get(id: number): Promise<ClusterDetails> {
    return this.#session.read(async (db) => detailsOf(await readRow(db, 'cluster', id), await primariesOf(db, id)));
  }

  brief(id: number): Promise<ClusterRecord> {
    return this.#session.read(async (db) => {
      const query = db.selectFrom('cluster').select(BRIEF).where('id', '=', id);
      const row = isId(id) ? await query.executeTakeFirst() : undefined;
      if (row === undefined) throw rowNotFound('cluster', id);
      return briefOf(row);
    });
  }

  find(name: string): Promise<ClusterRecord | null> {
    return this.#session.read(async (db) => {
      const row = await db.selectFrom('cluster').select(BRIEF).where('name', '=', storable(name)).executeTakeFirst();
      return row === undefined ? null : briefOf(row);
    });
  }

  async list(
    filter: { readonly ids?: readonly number[]; readonly releaseId?: number; readonly site?: string } = {},
  ): Promise<readonly ClusterRecord[]> {
    const ids = filter.ids?.filter(isId);
    const { releaseId, site } = filter;
    if (ids?.length === 0 || (releaseId !== undefined && !isId(releaseId))) return [];
    return this.#session.read(async (db) => {
      let query = db.selectFrom('cluster').select(BRIEF);
      if (ids !== undefined) query = query.where('id', 'in', ids);
      if (releaseId !== undefined) query = query.where('releaseId', '=', releaseId);
      if (site !== undefined) query = query.where('site', '=', storable(site));
      return (await query.orderBy('id').execute()).map(briefOf);
    });
  }

  async update(id: number, change: ClusterChange): Promise<ClusterDetails> {
    const check = new InputCheck();
    const columns = {
      ...columnsOf(check, change),
      releaseId: change.releaseId,
      pendingReleaseId: change.pendingReleaseId,
      deploymentInfo:
        change.deploymentInfo === undefined ? undefined : check.json('deploymentInfo', change.deploymentInfo),
      anyChoices: change.anyChoices === undefined ? undefined : check.json('anyChoices', change.anyChoices),
    };
    check.done();
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'cluster', id);
      for (const release of [columns.releaseId, columns.pendingReleaseId]) {
        if (release != null) await holdRow(transaction, 'release', release);
      }
      if (columns.name !== undefined) {
        const named = transaction.selectFrom('cluster').select('id').where('name', '=', columns.name);
        const other = await named.where('id', '!=', id).executeTakeFirst();
        if (other !== undefined) throw taken(columns.name);
      }
      if (change.primaries !== undefined) await replacePrimaries(transaction, id, change.primaries);
      const row = await transaction
        .updateTable('cluster')
        .set({ ...columns, updatedAt: new Date().toISOString() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return detailsOf(row, await primariesOf(transaction, id));
    });
  }

  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const { name } = await holdRow(transaction, 'cluster', id);
      const claim = await transaction
        .selectFrom('clusterClaim')
        .selectAll()
        .where('clusterId', '=', id)
        .executeTakeFirst();
      if (claim !== undefined) {
        const { workflowId, runId } = claim;
        const hint = 'Stop or cancel that run, or wait for its end, then delete the cluster.';
        throw conflict(`The run ${workflowId} is at work on the cluster "${name}".`, hint, { workflowId, runId });
      }
      await assertNoOpenRun(transaction, id, name);
      await releaseNodes(transaction, id);
      const runs = await transaction
        .selectFrom('deploymentTransaction')
        .select('id')
        .where('clusterId', '=', id)
        .execute();
      await removeTransactions(
        transaction,
        runs.map((run) => run.id),
      );
      const states = await transaction
        .deleteFrom('taskState')
        .where('clusterId', '=', id)
        .returning('content')
        .execute();
      await dropContents(
        transaction,
        states.map((state) => state.content),
      );
      await deleteRow(transaction, 'cluster', id);
    });
  }
}

/** The columns a new cluster and a change share; an absent field is undefined, which sets nothing. */
function columnsOf(check: InputCheck, change: Partial<NewCluster>) {
  const key = (path: string, value: string | undefined) => (value === undefined ? undefined : check.key(path, value));
  const json = (path: string, value: unknown) => (value === undefined ? undefined : check.json(path, value));
  return {
    name: key('name', change.name),
    mode: key('mode', change.mode),
    netProvider: key('netProvider', change.netProvider),
    status: key('status', change.status),
    site: change.site == null ? change.site : check.siteName('site', change.site),
    isLocked: change.isLocked === undefined ? undefined : Number(change.isLocked),
    components: json('components', change.components),
    uiSettings: json('uiSettings', change.uiSettings),
    attributes: json('attributes', change.attributes),
    networkConfig: json('networkConfig', change.networkConfig),
  };
}

async function replacePrimaries(
  transaction: Transaction<Tables>,
  clusterId: number,
  primaries: Readonly<Record<string, number>>,
): Promise<void> {
  const check = new InputCheck();
  const wanted = Object.entries(primaries).map(([tag, nodeId]) => ({
    clusterId,
    tag: check.key(`primaries.${tag}`, tag),
    nodeId,
  }));
  const nodes = await transaction.selectFrom('node').select('id').where('clusterId', '=', clusterId).execute();
  const ids = new Set(nodes.map((node) => node.id));
  for (const { tag, nodeId } of wanted) {
    if (ids.has(nodeId)) continue;
    check.refuse(`primaries.${tag}`, `Node ${nodeId} is not of the cluster.`, 'Name a node of this cluster.');
  }
  check.done();
  await transaction.deleteFrom('clusterPrimary').where('clusterId', '=', clusterId).execute();
  if (wanted.length > 0) await transaction.insertInto('clusterPrimary').values(wanted).execute();
}

async function primariesOf(db: Kysely<Tables>, clusterId: number): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('clusterPrimary')
    .select(['tag', 'nodeId'])
    .where('clusterId', '=', clusterId)
    .orderBy('tag')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.tag, row.nodeId]));
}

const taken = (name: string) => conflict(`There is a cluster "${name}" already.`, 'Use it, or choose another name.');

const briefOf = (row: BriefRow): ClusterRecord => ({
  id: row.id,
  name: row.name,
  releaseId: row.releaseId,
  pendingReleaseId: row.pendingReleaseId,
  mode: row.mode,
  netProvider: row.netProvider,
  status: row.status,
  site: row.site,
  isLocked: row.isLocked !== 0,
  components: JSON.parse(row.components) as Json[],
  uiSettings: JSON.parse(row.uiSettings) as JsonObject,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

const detailsOf = (row: ClusterRow, primaries: Readonly<Record<string, number>>): ClusterDetails => ({
  ...briefOf(row),
  attributes: JSON.parse(row.attributes) as JsonObject,
  deploymentInfo: JSON.parse(row.deploymentInfo) as ClusterDetails['deploymentInfo'],
  networkConfig: JSON.parse(row.networkConfig) as JsonObject,
  anyChoices: JSON.parse(row.anyChoices) as JsonObject,
  primaries,
});

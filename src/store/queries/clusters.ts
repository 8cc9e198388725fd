import type { Kysely, Transaction } from 'kysely';
import { OPEN_TRANSACTION_STATUSES } from '../../core/words.ts';
import { conflict, StoreError } from '../failure.ts';
import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { Change, New, Row, Stored, Tables } from '../tables.ts';
import { assertUnclaimed } from './claims.ts';
import { matching } from './conditions.ts';
import { dropContents } from './contents.ts';
import { changedColumns, columnsWithout, newRow, recordOf } from './conversion.ts';
import { createDefaultGraph } from './default-graph.ts';
import { deleteRow, insertRow, isId, lockRow, readRow, rowNotFound } from './identified-row.ts';
import { releaseNodes } from './node-release.ts';
import { removeTransactions } from './transaction-removal.ts';
import { transactionsIn } from './transaction-row.ts';

/** A cluster with its large fields. */
export interface ClusterDetails extends Stored<'cluster'> {
  /** Tag -> id of its primary node. Contains only nodes of the cluster. */
  readonly primaries: { readonly [tag: string]: number };
}

/** A cluster in lists. */
export type ClusterRecord = Omit<
  ClusterDetails,
  'attributes' | 'deploymentInfo' | 'networkConfig' | 'anyChoices' | 'primaries'
>;

type NewCluster = New<'cluster'>;

/** An absent field keeps its value; a given mapping replaces the stored one as a whole. */
type ClusterChange = Change<'cluster'> & {
  /** Every id must belong to a node of the cluster, else `invalid`. */
  readonly primaries?: Readonly<Record<string, number>>;
};

/** All but the large columns. */
const BRIEF = columnsWithout('cluster', 'attributes', 'deploymentInfo', 'networkConfig', 'anyChoices');

/**
 * Environments. An unknown id is `not-found` for every call but `list` and `find`.
 *
 * Every change of something in a cluster locks the cluster's row first.
 */
export class ClusterStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Also creates an empty graph of type `default`. @throws `conflict` when the name is taken; `not-found` for the
   * release.
   */
  async create(cluster: NewCluster): Promise<ClusterDetails> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const row = newRow('cluster', check, cluster, { createdAt: now, updatedAt: now });
    check.done();
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'release', row.releaseId);
      const stored = await insertRow(transaction, 'cluster', row, () => taken(row.name));
      await createDefaultGraph(transaction, { kind: 'cluster', id: stored.id });
      return { ...recordOf('cluster', stored), primaries: {} };
    });
  }

  get(id: number): Promise<ClusterDetails> {
    return this.#session.read(async (db) => detailsOf(db, await readRow(db, 'cluster', id)));
  }

  /** The same without its large fields. */
  brief(id: number): Promise<ClusterRecord> {
    return this.#session.read(async (db) => {
      const query = db.selectFrom('cluster').select(BRIEF).where('id', '=', id);
      const row = isId(id) ? await query.executeTakeFirst() : undefined;
      if (row === undefined) throw rowNotFound('cluster', id);
      return recordOf('cluster', row);
    });
  }

  find(name: string): Promise<ClusterRecord | null> {
    return this.#session.read(async (db) => {
      const row = await db.selectFrom('cluster').select(BRIEF).where('name', '=', storable(name)).executeTakeFirst();
      return row === undefined ? null : recordOf('cluster', row);
    });
  }

  /** By id, ascending. */
  list({
    ids,
    releaseId,
    site,
  }: {
    readonly ids?: readonly number[];
    readonly releaseId?: number;
    readonly site?: string;
  } = {}): Promise<readonly ClusterRecord[]> {
    return this.#session.read(async (db) => {
      const query = matching(db.selectFrom('cluster').select(BRIEF), { id: ids, releaseId, site });
      return (await query.orderBy('id').execute()).map((row) => recordOf('cluster', row));
    });
  }

  /** @throws `conflict` when the name is taken; `not-found` for a release. */
  update(id: number, change: ClusterChange): Promise<ClusterDetails> {
    return this.#changed(id, change, async (transaction) =>
      detailsOf(transaction, await readRow(transaction, 'cluster', id)),
    );
  }

  /** The same without reading it: a large cluster has megabytes. */
  change(id: number, change: ClusterChange): Promise<void> {
    return this.#changed(id, change, async () => undefined);
  }

  async #changed<T>(
    id: number,
    change: ClusterChange,
    read: (transaction: Transaction<Tables>) => Promise<T>,
  ): Promise<T> {
    const check = new InputCheck();
    const columns = changedColumns('cluster', check, change);
    check.done();
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', id);
      for (const release of [columns.releaseId, columns.pendingReleaseId]) {
        if (release != null) await lockRow(transaction, 'release', release);
      }
      if (columns.name !== undefined) {
        const named = transaction.selectFrom('cluster').select('id').where('name', '=', columns.name);
        const other = await named.where('id', '!=', id).executeTakeFirst();
        if (other !== undefined) throw taken(columns.name);
      }
      if (change.primaries !== undefined) await replacePrimaries(transaction, id, change.primaries);
      const updatedAt = new Date().toISOString();
      await transaction
        .updateTable('cluster')
        .set({ ...columns, updatedAt })
        .where('id', '=', id)
        .execute();
      return read(transaction);
    });
  }

  /**
   * Removes the cluster with its graphs, tags, plugin links, transactions, histories and states. Its nodes stay in the
   * inventory, without a cluster or roles.
   * @throws `conflict` with the holder while a run claims it or is open.
   */
  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const name = await lockRow(transaction, 'cluster', id);
      await assertUnclaimed(transaction, { cluster: id }, name);
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
    check.refuse(`primaries.${tag}`, `Node ${nodeId} is not in the cluster.`, 'Name a node of this cluster.');
  }
  check.done();
  await transaction.deleteFrom('clusterPrimary').where('clusterId', '=', clusterId).execute();
  if (wanted.length > 0) await transaction.insertInto('clusterPrimary').values(wanted).execute();
}

async function detailsOf(db: Kysely<Tables>, row: Row<'cluster'>): Promise<ClusterDetails> {
  const primaries = await db
    .selectFrom('clusterPrimary')
    .select(['tag', 'nodeId'])
    .where('clusterId', '=', row.id)
    .orderBy('tag')
    .execute();
  return {
    ...recordOf('cluster', row),
    primaries: Object.fromEntries(primaries.map(({ tag, nodeId }) => [tag, nodeId])),
  };
}

const taken = (name: string) => conflict(`There is a cluster "${name}" already.`, 'Use it, or choose another name.');

/** The cluster's open run. Lock the cluster's row first: then there is at most one. */
const findOpenRun = (db: Kysely<Tables>, clusterId: number): Promise<Row<'deploymentTransaction'> | undefined> =>
  transactionsIn(db)
    .where('clusterId', '=', clusterId)
    .where('parentId', 'is', null)
    .where('status', 'in', OPEN_TRANSACTION_STATUSES)
    .orderBy('id')
    .executeTakeFirst();

/** @throws StoreError of kind `conflict` naming the open run */
async function assertNoOpenRun(db: Kysely<Tables>, clusterId: number, cluster: string): Promise<void> {
  const run = await findOpenRun(db, clusterId);
  if (run !== undefined) throw openRunConflict(run, cluster);
}

function openRunConflict(run: Row<'deploymentTransaction'>, cluster: string): StoreError {
  const by = run.workflowId === null ? '' : `, workflow ${run.workflowId}`;
  const holder =
    run.workflowId === null || run.temporalRunId === null
      ? undefined
      : { workflowId: run.workflowId, runId: run.temporalRunId };
  return new StoreError({
    kind: 'conflict',
    transaction: run.id,
    ...(holder && { holder }),
    message: `Transaction ${run.id} (${run.name}${by}) of the cluster "${cluster}" is ${run.status}.`,
    hint: 'Wait until it ends or stop it, then try again.',
  });
}

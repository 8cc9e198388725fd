import type { Kysely, Transaction } from 'kysely';
import { StoreError } from '../failure.js';
import { InputCheck, storable } from '../input.js';
import type { Json, Page, PageRequest } from '../ports/page.js';
import type {
  NewRun,
  NewTransaction,
  RunTransactions,
  SnapshotKind,
  TransactionChange,
  TransactionFilter,
  TransactionRecord,
  TransactionStore,
} from '../ports/transaction-store.js';
import type { Session } from '../session.js';
import type { DeploymentTransactionRow } from '../tables/graph-rows.js';
import type { Tables } from '../tables.js';
import { dropContents, keepContent, packContent, packText, unpackText } from './contents.js';
import { assertRow, holdRow, readRow } from './identified-row.js';
import { findOpenRun, isOpen, OPEN_STATUSES, openRunConflict } from './open-run.js';
import { pageOf, readPage } from './paging.js';
import { removeTransactions } from './transaction-removal.js';
import {
  type CheckedChange,
  changedTransaction,
  checkedChange,
  filteredTransactions,
  runRowsOf,
  selfOrChild,
  transactionOf,
  transactionRowOf,
} from './transaction-row.js';

/** TransactionStore on either database. Runs of a cluster are made while its row is held, so there is one at a time. */
export class SqlTransactionStore implements TransactionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async createRun(run: NewRun): Promise<RunTransactions> {
    const rows = runRowsOf(run);
    return this.#session.write(async (transaction) => {
      const cluster = await holdRow(transaction, 'cluster', run.clusterId);
      const { workflowId, temporalRunId } = rows.run;
      if (workflowId !== null && temporalRunId !== null) {
        const same = await findRunRow(transaction, workflowId, temporalRunId);
        if (same !== undefined) return runOf(transaction, same);
      }
      const open = await findOpenRun(transaction, run.clusterId);
      if (open !== undefined) throw openRunConflict(open, cluster.name);
      await transaction
        .updateTable('deploymentTransaction')
        .set({ deletedAt: new Date().toISOString() })
        .where('clusterId', '=', run.clusterId)
        .where('deletedAt', 'is', null)
        .where('status', 'not in', OPEN_STATUSES)
        .execute();
      const stored = await insert(transaction, rows.run);
      const graphs: TransactionRecord[] = [];
      for (const graph of rows.graphs) {
        graphs.push(transactionOf(await insert(transaction, { ...graph, parentId: stored.id })));
      }
      return { run: transactionOf(stored), graphs };
    });
  }

  async create(given: NewTransaction): Promise<TransactionRecord> {
    const row = transactionRowOf(given);
    return this.#session.write(async (transaction) => {
      if (row.clusterId !== null) await assertRow(transaction, 'cluster', row.clusterId);
      if (row.parentId !== null) await assertRow(transaction, 'deploymentTransaction', row.parentId);
      return transactionOf(await insert(transaction, row));
    });
  }

  get(id: number): Promise<TransactionRecord> {
    return this.#session.read(async (db) => transactionOf(await readRow(db, 'deploymentTransaction', id)));
  }

  getRun(id: number): Promise<RunTransactions> {
    return this.#session.read(async (db) => {
      const row = await readRow(db, 'deploymentTransaction', id);
      return runOf(db, row.parentId === null ? row : await readRow(db, 'deploymentTransaction', row.parentId));
    });
  }

  findRun(workflowId: string, temporalRunId?: string): Promise<RunTransactions | null> {
    return this.#session.read(async (db) => {
      const row = await findRunRow(db, storable(workflowId), temporalRunId && storable(temporalRunId));
      return row === undefined ? null : runOf(db, row);
    });
  }

  async list(filter: TransactionFilter = {}): Promise<readonly TransactionRecord[]> {
    return this.#session.read(async (db) => {
      const rows = await filteredTransactions(db, filter)?.orderBy('id').execute();
      return (rows ?? []).map(transactionOf);
    });
  }

  async page(filter: TransactionFilter & PageRequest = {}): Promise<Page<TransactionRecord>> {
    const { limit, after } = readPage<[number]>(filter, ['number']);
    return this.#session.read(async (db) => {
      let query = filteredTransactions(db, filter);
      if (after !== undefined) query = query?.where('id', '<', after[0]);
      const rows = await query
        ?.orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows ?? [], limit, (row) => [row.id], transactionOf);
    });
  }

  async update(id: number, change: TransactionChange): Promise<TransactionRecord> {
    const columns = checkedChange(change);
    return this.#session.write(async (transaction) => {
      const stored = await holdRow(transaction, 'deploymentTransaction', id);
      return transactionOf(await apply(transaction, stored, columns));
    });
  }

  async endRun(id: number, end: Parameters<TransactionStore['endRun']>[1]): Promise<RunTransactions> {
    const { status, message, timeEnd, childMessage = 'Aborted' } = end;
    const ofRun = checkedChange({
      status,
      ...(message !== undefined && { message }),
      ...(timeEnd !== undefined && { timeEnd }),
    });
    const ofChildren = checkedChange({
      status: status === 'stopped' ? 'stopped' : 'error',
      message: childMessage,
      ...(timeEnd !== undefined && { timeEnd }),
    });
    return this.#session.write(async (transaction) => {
      const stored = await holdRow(transaction, 'deploymentTransaction', id);
      for (const child of await childrenOf(transaction, id)) {
        if (isOpen(child.status)) await apply(transaction, child, ofChildren);
      }
      return runOf(transaction, await apply(transaction, stored, ofRun));
    });
  }

  hide(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'deploymentTransaction', id);
      await transaction
        .updateTable('deploymentTransaction')
        .set({ deletedAt: new Date().toISOString() })
        .where((eb) => selfOrChild(eb, id))
        .where('deletedAt', 'is', null)
        .execute();
    });
  }

  delete(id: number, options: { readonly force?: boolean } = {}): Promise<void> {
    return this.#session.write(async (transaction) => {
      const row = await holdRow(transaction, 'deploymentTransaction', id);
      if (isOpen(row.status) && options.force !== true) {
        throw new StoreError({
          kind: 'conflict',
          transaction: id,
          message: `Transaction ${id} is ${row.status}.`,
          hint: 'Wait for its end, or stop it, then delete it.',
        });
      }
      await removeTransactions(transaction, [id]);
    });
  }

  async putReport(id: number, report: unknown): Promise<void> {
    const check = new InputCheck();
    const text = check.json('report', report);
    check.done();
    const bytes = await packText(text);
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'deploymentTransaction', id);
      await transaction
        .insertInto('transactionReport')
        .values({ transactionId: id, report: bytes })
        .onConflict((on) => on.column('transactionId').doUpdateSet({ report: bytes }))
        .execute();
    });
  }

  async getReport(id: number): Promise<Json | undefined> {
    const row = await this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', id);
      return db.selectFrom('transactionReport').select('report').where('transactionId', '=', id).executeTakeFirst();
    });
    return row === undefined ? undefined : (JSON.parse(await unpackText(row.report)) as Json);
  }

  async putSnapshot(id: number, kind: SnapshotKind, text: string): Promise<void> {
    const content = await packContent(text);
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'deploymentTransaction', id);
      const before = await transaction
        .selectFrom('transactionSnapshot')
        .select('content')
        .where('transactionId', '=', id)
        .where('kind', '=', kind)
        .executeTakeFirst();
      if (before?.content === content.hash) return;
      await keepContent(transaction, content);
      await transaction
        .insertInto('transactionSnapshot')
        .values({ transactionId: id, kind, content: content.hash })
        .onConflict((on) => on.columns(['transactionId', 'kind']).doUpdateSet({ content: content.hash }))
        .execute();
      if (before !== undefined) await dropContents(transaction, [before.content]);
    });
  }

  async getSnapshot(id: number, kind: SnapshotKind): Promise<string | undefined> {
    const row = await this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', id);
      return db
        .selectFrom('transactionSnapshot')
        .innerJoin('content', 'content.hash', 'transactionSnapshot.content')
        .select('content.bytes')
        .where('transactionId', '=', id)
        .where('kind', '=', kind)
        .executeTakeFirst();
    });
    return row === undefined ? undefined : unpackText(row.bytes);
  }
}

const insert = (
  transaction: Transaction<Tables>,
  row: Omit<DeploymentTransactionRow, 'id'>,
): Promise<DeploymentTransactionRow> =>
  transaction.insertInto('deploymentTransaction').values(row).returningAll().executeTakeFirstOrThrow();

async function apply(
  transaction: Transaction<Tables>,
  stored: DeploymentTransactionRow,
  change: CheckedChange,
): Promise<DeploymentTransactionRow> {
  const { id, ...changed } = changedTransaction(stored, change, new Date().toISOString());
  await transaction.updateTable('deploymentTransaction').set(changed).where('id', '=', id).execute();
  return { id, ...changed };
}

const childrenOf = (db: Kysely<Tables>, id: number): Promise<DeploymentTransactionRow[]> =>
  db.selectFrom('deploymentTransaction').selectAll().where('parentId', '=', id).orderBy('id').execute();

const runOf = async (db: Kysely<Tables>, run: DeploymentTransactionRow): Promise<RunTransactions> => ({
  run: transactionOf(run),
  graphs: (await childrenOf(db, run.id)).map(transactionOf),
});

function findRunRow(
  db: Kysely<Tables>,
  workflowId: string,
  temporalRunId: string | undefined,
): Promise<DeploymentTransactionRow | undefined> {
  let query = db
    .selectFrom('deploymentTransaction')
    .selectAll()
    .where('workflowId', '=', workflowId)
    .where('parentId', 'is', null);
  if (temporalRunId !== undefined) query = query.where('temporalRunId', '=', temporalRunId);
  return query.orderBy('id', 'desc').executeTakeFirst();
}

import type { Kysely, Transaction } from 'kysely';
import { isMapping } from '../../core/data/plain-value.ts';
import {
  type GraphOutcome,
  isTransactionOpen,
  OPEN_TRANSACTION_STATUSES,
  type TransactionEnd,
} from '../../core/words.ts';
import { StoreError } from '../failure.ts';
import type { Session } from '../session.ts';
import type { Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';
import { contentPacker, dropContents, keepContent, type PackedContent, packContent, unpackText } from './contents.ts';
import { assertRow, holdRow, insertRow, isId, listRows, lockRow, rowNotFound, updateRow } from './identified-row.ts';
import { removeTransactions } from './transaction-removal.ts';
import {
  type CheckedChange,
  changedTransaction,
  checkedChange,
  filteredTransactions,
  type NewRun,
  type NewTransaction,
  runRowsOf,
  selfOrChild,
  type TransactionChange,
  type TransactionFilter,
  type TransactionRecord,
  type TransactionRow,
  transactionOf,
  transactionRowOf,
  transactionsIn,
} from './transaction-row.ts';

/** The run and its children in order. */
export interface RunTransactions {
  readonly run: TransactionRecord;
  readonly graphs: readonly TransactionRecord[];
  /** Graphs in which its nodes ask the checks of its rollouts. */
  readonly asking: readonly TransactionRecord[];
}

/** The configuration in effect when a graph was planned. */
export type SnapshotKind = Stored<'transactionSnapshot'>['kind'];

interface SnapshotWriter {
  add(piece: string): Promise<void>;
  end(): Promise<void>;
}

/** An unknown id is `not-found` for every call but the lists. */
export class TransactionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Creates a `running` run with `waiting` children and hides the cluster's earlier runs, atomically. Repeating it with
   * the same workflow id and Temporal run id returns what is stored. The run's claim keeps others away.
   * @throws `not-found` for the cluster
   */
  async createRun(run: NewRun): Promise<RunTransactions> {
    const rows = runRowsOf(run);
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', run.clusterId);
      const { workflowId, temporalRunId } = rows.run;
      if (workflowId !== null && temporalRunId !== null) {
        const same = await findRunRow(transaction, workflowId, temporalRunId);
        if (same !== undefined) return runOf(transaction, same);
      }
      await transaction
        .updateTable('deploymentTransaction')
        .set({ deletedAt: new Date().toISOString() })
        .where('clusterId', '=', run.clusterId)
        .where('deletedAt', 'is', null)
        .where('id', 'in', endedOf(transaction, run.clusterId))
        .execute();
      const stored = await insertRow(transaction, 'deploymentTransaction', rows.run);
      const graphs: TransactionRecord[] = [];
      for (const graph of rows.graphs) {
        graphs.push(
          transactionOf(await insertRow(transaction, 'deploymentTransaction', { ...graph, parentId: stored.id })),
        );
      }
      return { run: transactionOf(stored), graphs, asking: [] };
    });
  }

  async create(given: NewTransaction): Promise<TransactionRecord> {
    const row = transactionRowOf(given);
    return this.#session.write(async (transaction) => {
      if (row.clusterId !== null) await assertRow(transaction, 'cluster', row.clusterId);
      if (row.parentId !== null) await assertRow(transaction, 'deploymentTransaction', row.parentId);
      return transactionOf(await insertRow(transaction, 'deploymentTransaction', row));
    });
  }

  get(id: number): Promise<TransactionRecord> {
    return this.#session.read(async (db) => transactionOf(await readTransaction(db, id)));
  }

  /** The run that the transaction is or belongs to. */
  getRun(id: number): Promise<RunTransactions> {
    return this.#session.read(async (db) => {
      const [run, ...graphs] = isId(id) ? await rowsOfRun(db, id) : [];
      if (run === undefined) throw rowNotFound('deploymentTransaction', id);
      return runWith(run, graphs);
    });
  }

  /**
   * Adds graphs to a run in which its nodes ask checks. Repeating it for the same turn returns those that are still open: an execution that a
   * reset has begun asks anew.
   */
  addAsking(id: number, turn: string, graphs: readonly NewAsking[]): Promise<readonly TransactionRecord[]> {
    return this.#session.write(async (transaction) => {
      const run = await holdRow(transaction, 'deploymentTransaction', id);
      const { asking } = await runOf(transaction, run);
      const made = asking.filter(
        ({ input, status }) => isMapping(input) && input.turn === turn && isTransactionOpen(status),
      );
      if (made.length > 0) return made;
      const { clusterId, force, workflowId, temporalRunId, startedBy } = transactionOf(run);
      if (clusterId === null) throw rowNotFound('cluster', id);
      const common = { ...{ clusterId, force, workflowId, temporalRunId, startedBy }, mode: 'check' } as const;
      const rows = runRowsOf({
        ...common,
        graphs: graphs.map(({ input, ...one }) => ({ ...one, input: { ...input, turn } })),
      });
      const stored: TransactionRecord[] = [];
      for (const row of rows.graphs)
        stored.push(transactionOf(await insertRow(transaction, 'deploymentTransaction', { ...row, parentId: id })));
      return stored;
    });
  }

  /** The newest run with these Temporal ids, or null. */
  findRun(workflowId: string, temporalRunId?: string): Promise<RunTransactions | null> {
    return this.#session.read(async (db) => {
      const row = await findRunRow(db, workflowId, temporalRunId);
      return row === undefined ? null : runOf(db, row);
    });
  }

  /** By id, ascending. */
  async list(filter: TransactionFilter = {}): Promise<readonly TransactionRecord[]> {
    return this.#session.read(async (db) => {
      return (await filteredTransactions(db, filter).orderBy('id').execute()).map(transactionOf);
    });
  }

  async update(id: number, change: TransactionChange): Promise<TransactionRecord> {
    const columns = checkedChange(change);
    return this.#session.write(async (transaction) => {
      const stored = await holdRow(transaction, 'deploymentTransaction', id);
      return transactionOf(await apply(transaction, stored, columns));
    });
  }

  /**
   * Ends what is open of a run that has ended: graphs that wait become `not_reached`, running ones `stopped` if an operator ended the run,
   * else `failed`; those of which the run knows the end, which a restored store has lost, end so. Tasks that are recorded as running become `failed`, as no one records their end.
   */
  async endGraphs(run: number, { status, timeEnd, known = new Map(), isOwn = false }: RunEnd): Promise<void> {
    const isStopped = status === 'stopped' || status === 'cancelled';
    const endOf = ({ id, status: was }: TransactionRow) => {
      const end = known.get(id);
      if (end !== undefined) return checkedChange({ status: end, timeEnd });
      return checkedChange({
        status: was === 'waiting' ? 'not_reached' : isStopped ? 'stopped' : 'failed',
        message: ABORTED,
        timeEnd,
      });
    };
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'deploymentTransaction', run);
      for (const graph of await graphsOf(transaction, run))
        if (isTransactionOpen(graph.status)) await apply(transaction, graph, endOf(graph));
        else if (isOwn && (known.get(graph.id) ?? graph.status) !== graph.status)
          await updateRow(transaction, 'deploymentTransaction', graph.id, { status: known.get(graph.id)!, timeEnd });
      // Their runner has ended; their sequence stays, so that a run that continues after a reset replaces this.
      await transaction
        .updateTable('taskHistory')
        .set({ status: 'failed', message: UNKNOWN_END, timeEnd })
        .where('status', 'in', ['running', 'retrying'])
        .where('transactionId', 'in', (eb) =>
          eb.selectFrom('deploymentTransaction').select('id').where('parentId', '=', run),
        )
        .execute();
    });
  }

  /** Opens the graphs again that `endGraphs` ended: their run, which seemed dead, continues after a reset. */
  reopenGraphs(run: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'deploymentTransaction', run);
      for (const graph of await graphsOf(transaction, run)) {
        if (!endedWithRun(graph)) continue;
        const status = graph.timeStart === null ? ('waiting' as const) : ('running' as const);
        await updateRow(transaction, 'deploymentTransaction', graph.id, { status, message: null, timeEnd: null });
      }
    });
  }

  /** Hides the transaction and its children. Repeating changes nothing. */
  hide(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'deploymentTransaction', id);
      await transaction
        .updateTable('deploymentTransaction')
        .set({ deletedAt: new Date().toISOString() })
        .where((eb) => selfOrChild(eb, id))
        .where('deletedAt', 'is', null)
        .execute();
    });
  }

  /**
   * Deletes the transaction with its children, their histories and snapshots.
   * @throws `conflict` when it is open, unless `force`.
   */
  delete(id: number, options: { readonly force?: boolean } = {}): Promise<void> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'deploymentTransaction', id);
      const { status } = await readTransaction(transaction, id);
      if (isTransactionOpen(status) && options.force !== true) {
        throw new StoreError({
          kind: 'conflict',
          transaction: id,
          message: `Transaction ${id} is ${status}.`,
          hint: 'Wait until it ends or stop it, then delete it.',
        });
      }
      await removeTransactions(transaction, [id]);
    });
  }

  /**
   * Stores the text of a JSON value unchanged, so that numbers keep their spelling: of one transaction, or of several, which share
   * it. Replaces an existing one.
   */
  async putSnapshot(of: number | readonly number[], kind: SnapshotKind, text: string): Promise<void> {
    return this.#putContent(of, kind, await packContent(text));
  }

  /** The same of a text that comes in pieces; stored when it ends. */
  async writeSnapshot(of: readonly number[], kind: SnapshotKind): Promise<SnapshotWriter> {
    const content = contentPacker();
    return {
      add: (piece) => content.add(piece),
      end: async () => this.#putContent(of, kind, await content.end()),
    };
  }

  #putContent(of: number | readonly number[], kind: SnapshotKind, content: PackedContent): Promise<void> {
    return this.#session.write(async (transaction) => {
      for (const id of [of].flat()) await putContent(transaction, id, kind, content);
    });
  }

  /** The text; undefined if there is none. */
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

interface NewAsking {
  readonly graphType: string;
  readonly input: object;
}

/** How a run ended. */
interface RunEnd {
  readonly status: TransactionEnd;
  readonly timeEnd: string;
  /** Ends of its graphs, by their transactions. */
  readonly known?: ReadonlyMap<number, GraphOutcome>;
  /** Whether the run itself says so, now: what it said before a reset counts no more. */
  readonly isOwn?: boolean;
}

/** Message of graphs that ended with their run. */
const ABORTED = 'Aborted';

/** Whether a graph ended as its run did: where that goes on after a reset, so does the graph. */
export const endedWithRun = ({ message }: Pick<TransactionRow, 'message'>): boolean => message === ABORTED;

/** Message of tasks that run when their run ends without having recorded how they ended. */
const UNKNOWN_END = 'its run ended without it: its outcome is unknown';

async function apply(
  transaction: Transaction<Tables>,
  stored: TransactionRow,
  change: CheckedChange,
): Promise<TransactionRow> {
  const { id, ...changed } = changedTransaction(stored, change, new Date().toISOString());
  return updateRow(transaction, 'deploymentTransaction', id, changed);
}

const graphsOf = (db: Kysely<Tables>, run: number): Promise<TransactionRow[]> =>
  listRows(db, 'deploymentTransaction', { parentId: run });

async function readTransaction(db: Kysely<Tables>, id: number): Promise<TransactionRow> {
  const [row] = await filteredTransactions(db, { ids: [id] }).execute();
  if (row === undefined) throw rowNotFound('deploymentTransaction', id);
  return row;
}

/** Ids of the transactions of a cluster that have ended. */
const endedOf = (db: Kysely<Tables>, cluster: number) =>
  transactionsIn(db)
    .clearSelect()
    .select('id')
    .where('clusterId', '=', cluster)
    .where('status', 'not in', OPEN_TRANSACTION_STATUSES);

const runOf = async (db: Kysely<Tables>, run: TransactionRow): Promise<RunTransactions> =>
  runWith(run, await graphsOf(db, run.id));

/** A graph has the mode of its run, unless it asks checks in one that changes nodes. */
function runWith(run: TransactionRow, children: readonly TransactionRow[]): RunTransactions {
  const isAsking = ({ mode }: TransactionRow): boolean => mode === 'check' && run.mode !== 'check';
  return {
    run: transactionOf(run),
    graphs: children.filter((child) => !isAsking(child)).map(transactionOf),
    asking: children.filter(isAsking).map(transactionOf),
  };
}

/**
 * The run that a transaction is or belongs to, and its children in order. One statement, because every order that a node
 * fetches asks for it.
 */
export function rowsOfRun(db: Kysely<Tables>, id: number): Promise<TransactionRow[]> {
  const run = db
    .selectFrom('deploymentTransaction')
    .select(({ fn }) => fn.coalesce('parentId', 'id').as('run'))
    .where('id', '=', id);
  return (
    transactionsIn(db)
      .where(({ eb, or }) => or([eb('id', '=', run), eb('parentId', '=', run)]))
      // A run is created before its children.
      .orderBy('id')
      .execute()
  );
}

/** The newest run with these ids. */
const findRunRow = (
  db: Kysely<Tables>,
  workflowId: string,
  temporalRunId: string | undefined,
): Promise<TransactionRow | undefined> =>
  matching(transactionsIn(db), { workflowId, temporalRunId, parentId: null }).orderBy('id', 'desc').executeTakeFirst();

async function putContent(
  transaction: Transaction<Tables>,
  transactionId: number,
  kind: SnapshotKind,
  content: PackedContent,
): Promise<void> {
  await lockRow(transaction, 'deploymentTransaction', transactionId);
  const before = await transaction
    .selectFrom('transactionSnapshot')
    .select('content')
    .where('transactionId', '=', transactionId)
    .where('kind', '=', kind)
    .executeTakeFirst();
  if (before?.content === content.hash) return;
  await keepContent(transaction, content);
  await transaction
    .insertInto('transactionSnapshot')
    .values({ transactionId, kind, content: content.hash })
    .onConflict((on) => on.columns(['transactionId', 'kind']).doUpdateSet({ content: content.hash }))
    .execute();
  if (before !== undefined) await dropContents(transaction, [before.content]);
}

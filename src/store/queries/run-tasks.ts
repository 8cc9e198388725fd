import { type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import type { TaskStatus } from '../../core/words.ts';
import { InputCheck, storable } from '../input.ts';
import type { Page, PageRequest } from '../page.ts';
import type { Session } from '../session.ts';
import type { New, Row, Stored, Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { assertRow, lockRow } from './identified-row.ts';
import { fetchPage, readPage, type Sorting } from './paging.ts';

/** The outcome of one task on one node in one graph run. */
export type TaskHistoryRow = Omit<Stored<'taskHistory'>, 'position' | 'sequence'>;

/**
 * A row of a plan, before anything ran. A task without work may start in its final status. Default `waiting`. `position`: in the whole
 * plan; default: in the list.
 */
export type PlannedRow = TaskOnNode &
  Partial<Pick<TaskHistoryRow, 'status' | 'message' | 'custom'> & Pick<HistoryRow, 'position'>>;

/**
 * The state of a task. Writes may be repeated and may arrive late: the sequence decides which is newer. After a reset an
 * earlier attempt may be the newer one.
 * - A newer write of another attempt replaces everything; it clears absent fields except `custom`.
 * - Within an attempt, a newer write replaces the fields it has. An older write only fills in what is unknown, such as
 * the start time.
 * - An older write of another attempt changes nothing.
 */
export interface HistoryWrite extends Omit<New<'taskHistory'>, 'transactionId' | 'position' | 'attempts'> {
  readonly attempt: number;
  /** Increases with every write for the same task on the same node. */
  readonly sequence: number;
}

/** All given conditions must hold. An empty list matches nothing. */
interface TaskHistoryFilter {
  readonly nodes?: readonly string[];
  readonly tasks?: readonly string[];
  readonly statuses?: readonly TaskStatus[];
}

type HistoryRow = Row<'taskHistory'>;

const IN_ORDER: Sorting = { direction: 'asc', columns: { position: 'number', node: 'string', task: 'string' } };

/** Sorts after all positions in a plan. */
const UNPLANNED = 2_147_483_647;

/**
 * An unknown transaction is `not-found`.
 *
 * The storing statement decides whether a write is newer.
 */
export class TaskHistoryStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds any number of rows, all or none. Existing rows stay unchanged. */
  async plan(transactionId: number, rows: readonly PlannedRow[]): Promise<void> {
    const planned = plannedRowsOf(transactionId, rows);
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'deploymentTransaction', transactionId);
      for (const batch of inBatches(planned)) {
        await transaction
          .insertInto('taskHistory')
          .values(batch)
          .onConflict((on) => on.columns(['transactionId', 'node', 'task']).doNothing())
          .execute();
      }
    });
  }

  /** Records any number of rows, all or none, including unplanned tasks. */
  async record(transactionId: number, writes: readonly HistoryWrite[]): Promise<void> {
    const rounds = oncePerRound(writtenRowsOf(transactionId, writes));
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'deploymentTransaction', transactionId);
      for (const round of rounds) for (const batch of inBatches(round)) await merge(transaction, batch);
    });
  }

  /** All rows, in planned order. */
  list(transactionId: number, filter: TaskHistoryFilter = {}): Promise<readonly TaskHistoryRow[]> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const rows = filtered(db.selectFrom('taskHistory').selectAll(), transactionId, filter);
      const place = isFound(filter) ? sql`+position` : sql.ref('position');
      return (await rows.orderBy(place).orderBy('node').orderBy('task').execute()).map(historyOf);
    });
  }

  /** The same in pages. */
  async page(transactionId: number, filter: TaskHistoryFilter & PageRequest = {}): Promise<Page<TaskHistoryRow>> {
    const page = readPage(filter, { ...IN_ORDER, found: isFound(filter) });
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const rows = filtered(db.selectFrom('taskHistory').selectAll(), transactionId, filter);
      return fetchPage(rows, page, (row) => [row.position, row.node, row.task], historyOf);
    });
  }

  /** Only statuses that occur. */
  count(transactionId: number, filter: TaskHistoryFilter = {}): Promise<Readonly<Partial<Record<TaskStatus, number>>>> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const counted = db.selectFrom('taskHistory').select(({ fn }) => ['status', fn.countAll<number>().as('rows')]);
      const rows = await filtered(counted, transactionId, filter).groupBy('status').orderBy('status').execute();
      return Object.fromEntries(rows.map((row) => [row.status, row.rows]));
    });
  }

  /** The same by node. */
  countByNode(
    transactionId: number,
    filter: TaskHistoryFilter = {},
  ): Promise<Readonly<Record<string, Readonly<Partial<Record<TaskStatus, number>>>>>> {
    return this.#countBy('node', transactionId, filter);
  }

  /** Names of its tasks, in order. */
  taskNames(transactionId: number): Promise<readonly string[]> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const named = db.selectFrom('taskHistory').select('task').distinct().where('transactionId', '=', transactionId);
      return (await named.orderBy('task').execute()).map(({ task }) => task);
    });
  }

  /** The same by task. */
  countByTask(transactionId: number): Promise<Readonly<Record<string, Readonly<Partial<Record<TaskStatus, number>>>>>> {
    return this.#countBy('task', transactionId);
  }

  #countBy(column: 'node' | 'task', transactionId: number, filter: TaskHistoryFilter = {}) {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const counted = db
        .selectFrom('taskHistory')
        .select(({ fn, ref }) => [ref(column).as('name'), 'status', fn.countAll<number>().as('rows')]);
      const rows = await filtered(counted, transactionId, filter)
        .groupBy([column, 'status'])
        .orderBy(column)
        .orderBy('status')
        .execute();
      const counts = new Map<string, Partial<Record<TaskStatus, number>>>();
      for (const row of rows) counts.set(row.name, { ...counts.get(row.name), [row.status]: row.rows });
      return Object.fromEntries(counts);
    });
  }
}

/** Stores writes for distinct tasks by the rules of HistoryWrite. */
async function merge(transaction: Transaction<Tables>, rows: readonly HistoryRow[]): Promise<void> {
  await transaction
    .insertInto('taskHistory')
    .values(rows)
    .onConflict((on) =>
      on
        .columns(['transactionId', 'node', 'task'])
        .doUpdateSet((eb) => {
          const newer = eb('excluded.sequence', '>', eb.ref('taskHistory.sequence'));
          const newAttempt = eb.and([newer, eb('excluded.attempts', '<>', eb.ref('taskHistory.attempts'))]);
          const newest = (column: 'status' | 'sequence' | 'attempts') =>
            eb
              .case()
              .when(newer)
              .then(eb.ref(`excluded.${column}`))
              .else(eb.ref(`taskHistory.${column}`))
              .end();
          const joined = (column: 'timeStart' | 'timeEnd' | 'rootCause' | 'message' | 'summary') =>
            eb
              .case()
              .when(newAttempt)
              .then(eb.ref(`excluded.${column}`))
              .when(newer)
              .then(eb.fn.coalesce(`excluded.${column}`, `taskHistory.${column}`))
              .else(eb.fn.coalesce(`taskHistory.${column}`, `excluded.${column}`))
              .end();
          return {
            status: newest('status').$castTo<TaskStatus>(),
            sequence: newest('sequence').$castTo<number>(),
            attempts: newest('attempts').$castTo<number>(),
            timeStart: joined('timeStart'),
            timeEnd: joined('timeEnd'),
            rootCause: joined('rootCause'),
            message: joined('message'),
            summary: joined('summary'),
            custom: eb
              .case()
              .when(newer)
              .then(eb.fn.coalesce('excluded.custom', 'taskHistory.custom'))
              .else(eb.fn.coalesce('taskHistory.custom', 'excluded.custom'))
              .end(),
          };
        })
        .where((eb) =>
          eb.or([
            eb('excluded.sequence', '>', eb.ref('taskHistory.sequence')),
            eb('excluded.attempts', '=', eb.ref('taskHistory.attempts')),
          ]),
        ),
    )
    .execute();
}

/** Of more tasks than these, an index finds more rows than one walks past in planned order. */
const FEW_TASKS = 5;

const areFew = (tasks: readonly string[]): boolean => tasks.length <= FEW_TASKS;

/** Whether an index finds few rows, which are then put in order. */
const isFound = ({ nodes, tasks }: TaskHistoryFilter): boolean =>
  nodes !== undefined || (tasks !== undefined && areFew(tasks));

/** Narrows a query by a filter. */
function filtered<O>(
  query: SelectQueryBuilder<Tables, 'taskHistory', O>,
  transactionId: number,
  { nodes, tasks, statuses }: TaskHistoryFilter,
): SelectQueryBuilder<Tables, 'taskHistory', O> {
  const narrowed = matching(query, { transactionId, node: nodes, status: statuses });
  return tasks === undefined || areFew(tasks)
    ? matching(narrowed, { task: tasks })
    : narrowed.where(sql<string>`task || ''`, 'in', tasks.map(storable));
}

function plannedRowsOf(transactionId: number, rows: readonly PlannedRow[]): HistoryRow[] {
  const check = new InputCheck();
  const planned = rows.map((row, position) => {
    const start = { transactionId, position, status: 'waiting', attempts: 0, sequence: 0, ...row } as const;
    // Older than any write.
    return { ...newRow('taskHistory', check, start, {}, `rows[${position}].`), sequence: -1 };
  });
  check.done();
  return planned;
}

function writtenRowsOf(transactionId: number, writes: readonly HistoryWrite[]): HistoryRow[] {
  const check = new InputCheck();
  const rows = writes.map(({ attempt: attempts, ...write }, index) =>
    newRow('taskHistory', check, { ...write, transactionId, attempts, position: UNPLANNED }, {}, `writes[${index}].`),
  );
  check.done();
  return rows;
}

/** PostgreSQL refuses a statement that changes a row twice, so a task's second write goes into the second round. */
function oncePerRound(rows: readonly HistoryRow[]): HistoryRow[][] {
  const rounds: HistoryRow[][] = [];
  const times = new Map<string, number>();
  for (const row of rows) {
    const key = JSON.stringify([row.node, row.task]);
    const round = times.get(key) ?? 0;
    times.set(key, round + 1);
    const rowsOfRound = rounds[round];
    if (rowsOfRound === undefined) rounds.push([row]);
    else rowsOfRound.push(row);
  }
  return rounds;
}

function historyOf({ position: _, sequence: __, ...row }: HistoryRow): TaskHistoryRow {
  return recordOf('taskHistory', row);
}

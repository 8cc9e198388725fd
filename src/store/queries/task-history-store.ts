import type { SelectQueryBuilder, Transaction } from 'kysely';
import { fromJson, InputCheck, storable } from '../input.js';
import type { Page, PageRequest } from '../ports/page.js';
import {
  type FuelTaskStatus,
  fuelTaskStatus,
  type PlannedTaskRow,
  type TaskHistoryFilter,
  type TaskHistoryRow,
  type TaskHistoryStatus,
  type TaskHistoryStore,
  type TaskHistoryWrite,
} from '../ports/task-history-store.js';
import type { Session } from '../session.js';
import type { TaskHistoryTableRow } from '../tables/graph-rows.js';
import type { Tables } from '../tables.js';
import { inBatches } from './batches.js';
import { assertRow, holdRow } from './identified-row.js';
import { pageOf, readPage } from './paging.js';

const STATUSES = Object.keys(fuelTaskStatus) as TaskHistoryStatus[];

/** After all places in a plan. */
const UNPLANNED = 2_147_483_647;

/** TaskHistoryStore on either database. Whether a write is newer is decided in the statement that stores it. */
export class SqlTaskHistoryStore implements TaskHistoryStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async plan(transactionId: number, rows: readonly PlannedTaskRow[]): Promise<void> {
    const planned = plannedRowsOf(transactionId, rows);
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'deploymentTransaction', transactionId);
      for (const batch of inBatches(planned)) {
        await transaction
          .insertInto('taskHistory')
          .values(batch)
          .onConflict((on) => on.columns(['transactionId', 'node', 'task']).doNothing())
          .execute();
      }
    });
  }

  async record(transactionId: number, writes: readonly TaskHistoryWrite[]): Promise<void> {
    const rounds = oncePerRound(writtenRowsOf(transactionId, writes));
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'deploymentTransaction', transactionId);
      for (const round of rounds) for (const batch of inBatches(round)) await merge(transaction, batch);
    });
  }

  list(transactionId: number, filter: TaskHistoryFilter = {}): Promise<readonly TaskHistoryRow[]> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const query = filtered(db.selectFrom('taskHistory').selectAll(), transactionId, filter);
      const rows = await query?.orderBy('position').orderBy('node').orderBy('task').execute();
      return (rows ?? []).map(historyOf);
    });
  }

  async page(transactionId: number, filter: TaskHistoryFilter & PageRequest = {}): Promise<Page<TaskHistoryRow>> {
    const { limit, after } = readPage<[number, string, string]>(filter, ['number', 'string', 'string']);
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      let query = filtered(db.selectFrom('taskHistory').selectAll(), transactionId, filter);
      if (after !== undefined) {
        const [position, node, task] = after;
        query = query?.where((eb) => eb(eb.refTuple('position', 'node', 'task'), '>', eb.tuple(position, node, task)));
      }
      const rows = await query
        ?.orderBy('position')
        .orderBy('node')
        .orderBy('task')
        .limit(limit + 1)
        .execute();
      return pageOf(rows ?? [], limit, (row) => [row.position, row.node, row.task], historyOf);
    });
  }

  count(transactionId: number, filter: TaskHistoryFilter = {}) {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const counted = db.selectFrom('taskHistory').select(({ fn }) => ['status', fn.countAll<number>().as('rows')]);
      const rows = await filtered(counted, transactionId, filter)?.groupBy('status').orderBy('status').execute();
      return Object.fromEntries((rows ?? []).map((row) => [row.status, row.rows]));
    });
  }

  countByNode(transactionId: number) {
    return this.#countBy('node', transactionId);
  }

  countByTask(transactionId: number) {
    return this.#countBy('task', transactionId);
  }

  #countBy(column: 'node' | 'task', transactionId: number) {
    return this.#session.read(async (db) => {
      await assertRow(db, 'deploymentTransaction', transactionId);
      const rows = await db
        .selectFrom('taskHistory')
        .select(({ fn, ref }) => [ref(column).as('name'), 'status', fn.countAll<number>().as('rows')])
        .where('transactionId', '=', transactionId)
        .groupBy([column, 'status'])
        .orderBy(column)
        .orderBy('status')
        .execute();
      const counts = new Map<string, Partial<Record<TaskHistoryStatus, number>>>();
      for (const row of rows) counts.set(row.name, { ...counts.get(row.name), [row.status]: row.rows });
      return Object.fromEntries(counts);
    });
  }

  async overRuns(clusterId: number, task: string, node: string, page: PageRequest = {}): Promise<Page<TaskHistoryRow>> {
    const { limit, after } = readPage<[number]>(page, ['number']);
    return this.#session.read(async (db) => {
      await assertRow(db, 'cluster', clusterId);
      let query = db
        .selectFrom('taskHistory')
        .selectAll()
        .where('transactionId', 'in', (eb) =>
          eb
            .selectFrom('deploymentTransaction')
            .select('deploymentTransaction.id')
            .where('deploymentTransaction.clusterId', '=', clusterId),
        )
        .where('node', '=', storable(node))
        .where('task', '=', storable(task));
      if (after !== undefined) query = query.where('transactionId', '<', after[0]);
      const rows = await query
        .orderBy('transactionId', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, (row) => [row.transactionId], historyOf);
    });
  }
}

/** Stores writes, each about another task, by the rules of TaskHistoryWrite. */
async function merge(transaction: Transaction<Tables>, rows: readonly TaskHistoryTableRow[]): Promise<void> {
  await transaction
    .insertInto('taskHistory')
    .values(rows)
    .onConflict((on) =>
      on
        .columns(['transactionId', 'node', 'task'])
        .doUpdateSet((eb) => {
          const newAttempt = eb('excluded.attempts', '>', eb.ref('taskHistory.attempts'));
          const newer = eb.or([newAttempt, eb('excluded.sequence', '>', eb.ref('taskHistory.sequence'))]);
          const newest = (column: 'status' | 'sequence') =>
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
            status: newest('status').$castTo<string>(),
            sequence: newest('sequence').$castTo<number>(),
            attempts: eb.ref('excluded.attempts'),
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
        .whereRef('excluded.attempts', '>=', 'taskHistory.attempts'),
    )
    .execute();
}

/** The part of a query that a filter lets through; undefined when it can let nothing through. */
function filtered<O>(
  query: SelectQueryBuilder<Tables, 'taskHistory', O>,
  transactionId: number,
  filter: TaskHistoryFilter,
): SelectQueryBuilder<Tables, 'taskHistory', O> | undefined {
  const { nodes, tasks, statuses, fuelStatuses } = filter;
  const wanted = STATUSES.filter(
    (status) => (statuses?.includes(status) ?? true) && (fuelStatuses?.includes(fuelTaskStatus[status]) ?? true),
  );
  if (nodes?.length === 0 || tasks?.length === 0 || wanted.length === 0) return undefined;
  let narrowed = query.where('transactionId', '=', transactionId);
  if (nodes !== undefined) narrowed = narrowed.where('node', 'in', nodes.map(storable));
  if (tasks !== undefined) narrowed = narrowed.where('task', 'in', tasks.map(storable));
  if (wanted.length < STATUSES.length) narrowed = narrowed.where('status', 'in', wanted);
  return narrowed;
}

function plannedRowsOf(transactionId: number, rows: readonly PlannedTaskRow[]): TaskHistoryTableRow[] {
  const check = new InputCheck();
  const planned = rows.map(
    (row, position): TaskHistoryTableRow => ({
      transactionId,
      position,
      node: check.key(`rows[${position}].node`, row.node),
      task: check.key(`rows[${position}].task`, row.task),
      status: row.status ?? 'waiting',
      attempts: 0,
      sequence: -1,
      timeStart: null,
      timeEnd: null,
      rootCause: null,
      message: row.message === undefined ? null : storable(row.message),
      summary: null,
      custom: row.custom === undefined ? null : check.json(`rows[${position}].custom`, row.custom),
    }),
  );
  check.done();
  return planned;
}

function writtenRowsOf(transactionId: number, writes: readonly TaskHistoryWrite[]): TaskHistoryTableRow[] {
  const check = new InputCheck();
  const text = (value: string | undefined) => (value === undefined ? null : storable(value));
  const rows = writes.map((write, index): TaskHistoryTableRow => {
    const at = `writes[${index}].`;
    const json = (path: string, value: unknown) => (value === undefined ? null : check.json(at + path, value));
    const time = (path: string, value: string | undefined) =>
      value === undefined ? null : check.time(at + path, value);
    return {
      transactionId,
      position: UNPLANNED,
      node: check.key(`${at}node`, write.node),
      task: check.key(`${at}task`, write.task),
      status: write.status,
      attempts: check.count(`${at}attempt`, write.attempt),
      sequence: check.count(`${at}sequence`, write.sequence),
      timeStart: time('timeStart', write.timeStart),
      timeEnd: time('timeEnd', write.timeEnd),
      rootCause: text(write.rootCause),
      message: text(write.message),
      summary: json('summary', write.summary),
      custom: json('custom', write.custom),
    };
  });
  check.done();
  return rows;
}

/** PostgreSQL refuses one statement that changes a row twice: the second write about a task is of the second round. */
function oncePerRound(rows: readonly TaskHistoryTableRow[]): TaskHistoryTableRow[][] {
  const rounds: TaskHistoryTableRow[][] = [];
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

function historyOf({ position: _, sequence: __, ...row }: TaskHistoryTableRow): TaskHistoryRow {
  const status = row.status as TaskHistoryStatus;
  const fuelStatus: FuelTaskStatus = fuelTaskStatus[status];
  return { ...row, status, fuelStatus, summary: fromJson(row.summary), custom: fromJson(row.custom) };
}

import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { notFound } from '../failure.js';
import { fromJson, InputCheck, storable } from '../input.js';
import type { Json, Page, PageRequest } from '../ports/page.js';
import type {
  NodeHistoryEntry,
  RunCount,
  RunFilter,
  RunNode,
  RunNodeWrite,
  RunRecord,
  RunStore,
  RunSummary,
  RunWrite,
} from '../ports/run-store.js';
import type { Session } from '../session.js';
import type { RunNodeRow, RunRow, Tables } from '../tables.js';
import { inBatches } from './batches.js';
import { pageOf, readPage } from './paging.js';
import { mergeRun, mergeRunNode, runNodeRowsOf, runRowOf } from './run-merge.js';

const SUMMARY = [
  'id',
  'workflowId',
  'temporalRunId',
  'kind',
  'site',
  'revision',
  'title',
  'labels',
  'phase',
  'outcome',
  'startedBy',
  'reason',
  'startedAt',
  'endedAt',
  'failedNodes',
] as const satisfies readonly (keyof RunRow)[];

/**
 * Labels are stored as one JSON object of texts. Within it the name and the value of a label stand as nothing else can:
 * quotes within texts are escaped. Replacing tells case apart, and is the same on both databases; LIKE is neither.
 */
function hasLabel(name: string, value: string): RawBuilder<SqlBool> {
  const text = JSON.stringify({ [storable(name)]: storable(value) }).slice(1, -1);
  return sql<SqlBool>`replace(labels, ${text}, '') <> labels`;
}

/** RunStore on either database. Whoever writes holds the run's row first, so writes of a run come one after the other. */
export class SqlRunStore implements RunStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async put(run: RunWrite): Promise<RunRecord> {
    const row = runRowOf(run);
    return this.#session.write(async (transaction) => {
      const created = await transaction
        .insertInto('run')
        .values(row)
        .onConflict((on) => on.column('id').doNothing())
        .executeTakeFirstOrThrow();
      if (created.numInsertedOrUpdatedRows === 1n) return recordOf(row);
      const stored = await holdRun(transaction, row.id);
      const merged = mergeRun(stored, row, run);
      if (merged !== stored) await transaction.updateTable('run').set(merged).where('id', '=', row.id).execute();
      return recordOf(merged);
    });
  }

  get(id: string): Promise<RunRecord> {
    return this.#session.read(async (db) => {
      const row = await db.selectFrom('run').selectAll().where('id', '=', storable(id)).executeTakeFirst();
      if (row === undefined) throw runNotFound(id);
      return recordOf(row);
    });
  }

  async count(): Promise<readonly RunCount[]> {
    const rows = await this.#session.read((db) =>
      db
        .selectFrom('run')
        .select(({ fn }) => ['kind', 'phase', 'outcome', fn.countAll().as('count')])
        .groupBy(['kind', 'phase', 'outcome'])
        .orderBy('kind')
        .orderBy('phase')
        .execute(),
    );
    // PostgreSQL counts in bigint, which its driver gives as text.
    return rows.map((row) => ({ ...row, count: Number(row.count) }));
  }

  async list(filter: RunFilter = {}): Promise<Page<RunSummary>> {
    const { limit, after } = readPage<[string, string]>(filter, ['string', 'string']);
    const check = new InputCheck();
    const since = filter.since === undefined ? undefined : check.time('since', filter.since);
    const until = filter.until === undefined ? undefined : check.time('until', filter.until);
    check.done();
    return this.#session.read(async (db) => {
      let query = db.selectFrom('run').select(SUMMARY);
      if (since !== undefined) query = query.where('startedAt', '>=', since);
      if (until !== undefined) query = query.where('startedAt', '<', until);
      for (const [name, value] of filter.labels ?? []) query = query.where(hasLabel(name, value));
      for (const column of ['site', 'workflowId', 'startedBy'] as const) {
        const value = filter[column];
        if (value !== undefined) query = query.where(column, '=', storable(value));
      }
      for (const column of ['kind', 'phase', 'outcome'] as const) {
        const value = filter[column];
        if (value === undefined) continue;
        const values = typeof value === 'string' ? [value] : value;
        if (values.length === 0) return { items: [], next: null };
        query = query.where(column, 'in', values.map(storable));
      }
      if (filter.open !== undefined) query = query.where('endedAt', filter.open ? 'is' : 'is not', null);
      if (after !== undefined) {
        const [startedAt, id] = after;
        query = query.where((eb) => eb(eb.refTuple('startedAt', 'id'), '<', eb.tuple(startedAt, id)));
      }
      const rows = await query
        .orderBy('startedAt', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, (row) => [row.startedAt, row.id], summaryOf);
    });
  }

  async putReport(runId: string, sequence: number, report: unknown): Promise<void> {
    const check = new InputCheck();
    const row = {
      runId: storable(runId),
      sequence: check.count('sequence', sequence),
      report: check.json('report', report),
    };
    check.done();
    return this.#session.write(async (transaction) => {
      await holdRun(transaction, runId);
      await transaction
        .insertInto('runReport')
        .values(row)
        .onConflict((on) =>
          on
            .column('runId')
            .doUpdateSet({ sequence: row.sequence, report: row.report })
            .where('runReport.sequence', '<', row.sequence),
        )
        .execute();
    });
  }

  async getReport(runId: string): Promise<Json | undefined> {
    const row = await this.#session.read(async (db) => {
      await assertRun(db, runId);
      return db.selectFrom('runReport').select('report').where('runId', '=', storable(runId)).executeTakeFirst();
    });
    return row === undefined ? undefined : fromJson(row.report);
  }

  async putNodes(runId: string, nodes: readonly RunNodeWrite[]): Promise<void> {
    const writes = runNodeRowsOf(storable(runId), nodes);
    return this.#session.write(async (transaction) => {
      await holdRun(transaction, runId);
      const stored = await readNodes(transaction, runId, [...new Set(writes.map((row) => row.node))]);
      const merged = new Map(stored);
      for (const [index, row] of writes.entries()) {
        merged.set(row.node, mergeRunNode(merged.get(row.node), row, nodes[index]!));
      }
      const changed = [...merged.values()].filter((row) => row !== stored.get(row.node));
      for (const batch of inBatches(changed)) await writeNodes(transaction, batch);
    });
  }

  listNodes(runId: string, filter: { readonly state?: string; readonly group?: string } = {}) {
    return this.#session.read(async (db) => {
      await assertRun(db, runId);
      let query = db.selectFrom('runNode').selectAll().where('runId', '=', storable(runId));
      if (filter.state !== undefined) query = query.where('state', '=', storable(filter.state));
      if (filter.group !== undefined) query = query.where('group', '=', storable(filter.group));
      return (await query.orderBy('node').execute()).map(nodeOf);
    });
  }

  async listNodeHistory(site: string, node: string, page: PageRequest = {}): Promise<Page<NodeHistoryEntry>> {
    const { limit, after } = readPage<[string, string]>(page, ['string', 'string']);
    return this.#session.read(async (db) => {
      let query = db
        .selectFrom('runNode')
        .innerJoin('run', 'run.id', 'runNode.runId')
        .selectAll('runNode')
        .select([
          'run.workflowId',
          'run.kind',
          'run.site',
          'run.revision',
          'run.phase',
          'run.outcome',
          'run.startedAt as runStartedAt',
          'run.endedAt as runEndedAt',
        ])
        .where('runNode.node', '=', storable(node))
        .where('run.site', '=', storable(site));
      if (after !== undefined) {
        const [startedAt, id] = after;
        query = query.where((eb) => eb(eb.refTuple('run.startedAt', 'run.id'), '<', eb.tuple(startedAt, id)));
      }
      const rows = await query
        .orderBy('run.startedAt', 'desc')
        .orderBy('run.id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(
        rows,
        limit,
        (row) => [row.runStartedAt, row.runId],
        (row) => ({
          ...nodeOf(row),
          run: {
            id: row.runId,
            workflowId: row.workflowId,
            kind: row.kind,
            site: row.site,
            revision: row.revision,
            phase: row.phase,
            outcome: row.outcome,
            startedAt: row.runStartedAt,
            endedAt: row.runEndedAt,
          },
        }),
      );
    });
  }
}

const runNotFound = (id: string) => notFound('run', id, 'List the runs there are.');

async function assertRun(db: Kysely<Tables>, id: string): Promise<void> {
  const row = await db.selectFrom('run').select('id').where('id', '=', storable(id)).executeTakeFirst();
  if (row === undefined) throw runNotFound(id);
}

/** Reads a run and keeps it for this transaction, as holdSite does. @throws StoreError of kind `not-found` */
async function holdRun(transaction: Transaction<Tables>, id: string): Promise<RunRow> {
  const row = await transaction
    .updateTable('run')
    .set((column) => ({ sequence: column.ref('sequence') }))
    .where('id', '=', storable(id))
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw runNotFound(id);
  return row;
}

async function readNodes(
  transaction: Transaction<Tables>,
  runId: string,
  nodes: readonly string[],
): Promise<Map<string, RunNodeRow>> {
  const found = new Map<string, RunNodeRow>();
  for (const batch of inBatches(nodes)) {
    const rows = await transaction
      .selectFrom('runNode')
      .selectAll()
      .where('runId', '=', storable(runId))
      .where('node', 'in', batch)
      .execute();
    for (const row of rows) found.set(row.node, row);
  }
  return found;
}

async function writeNodes(transaction: Transaction<Tables>, rows: readonly RunNodeRow[]): Promise<void> {
  await transaction
    .insertInto('runNode')
    .values(rows)
    .onConflict((on) =>
      on.columns(['runId', 'node']).doUpdateSet((eb) => ({
        sequence: eb.ref('excluded.sequence'),
        state: eb.ref('excluded.state'),
        group: eb.ref('excluded.group'),
        step: eb.ref('excluded.step'),
        attempts: eb.ref('excluded.attempts'),
        startedAt: eb.ref('excluded.startedAt'),
        endedAt: eb.ref('excluded.endedAt'),
        reason: eb.ref('excluded.reason'),
        systemId: eb.ref('excluded.systemId'),
        lateResult: eb.ref('excluded.lateResult'),
      })),
    )
    .execute();
}

const summaryOf = (row: Pick<RunRow, (typeof SUMMARY)[number]>): RunSummary => ({
  ...row,
  labels: (fromJson(row.labels) ?? {}) as Record<string, string>,
});

const recordOf = (row: RunRow): RunRecord => ({
  ...row,
  labels: (fromJson(row.labels) ?? {}) as Record<string, string>,
  parameters: fromJson(row.parameters),
});

const nodeOf = (row: RunNodeRow): RunNode => ({
  node: row.node,
  state: row.state,
  group: row.group,
  step: row.step,
  attempts: row.attempts,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  reason: row.reason,
  systemId: row.systemId,
  lateResult: fromJson(row.lateResult),
});

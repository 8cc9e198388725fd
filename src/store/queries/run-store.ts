import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { notFound } from '../failure.ts';
import { fromJson, InputCheck, storable } from '../input.ts';
import type { Json, Page, PageRequest } from '../ports/page.ts';
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
} from '../ports/run-store.ts';
import type { Session } from '../session.ts';
import type { Row, Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { matching, readPeriod, within } from './conditions.ts';
import { columnsWithout, givenColumns, newRow, recordOf, replacing } from './conversion.ts';
import { fetchPage, newestFirst, readPage } from './paging.ts';
import { mergedRow } from './run-merge.ts';

/** All but the large columns. */
const SUMMARY = columnsWithout('run', 'sequence', 'parameters');

const BY_START = newestFirst({ startedAt: 'string', id: 'string' });
const BY_START_OF_RUN = newestFirst({ 'run.startedAt': 'string', 'run.id': 'string' });

/**
 * Labels are stored as one JSON object of strings. Nothing else in it can look like a given name and value, because
 * quotes within strings are escaped. `replace` is case-sensitive and works the same on both databases; LIKE does
 * neither.
 */
function hasLabel(name: string, value: string): RawBuilder<SqlBool> {
  const text = JSON.stringify({ [storable(name)]: storable(value) }).slice(1, -1);
  return sql<SqlBool>`replace(labels, ${text}, '') <> labels`;
}

const SEARCHED = ['id', 'workflowId', 'kind', 'site', 'title', 'startedBy', 'reason', 'failure'] as const;

/** Whether a run's words hold the text; `%` and `_` in it are themselves. */
function holds(text: string): RawBuilder<SqlBool> {
  const pattern = `%${storable(text)
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&')}%`;
  const words = sql.join(
    SEARCHED.map((column) => sql`lower(coalesce(${sql.ref(column)}, ''))`),
    sql` || ' ' || `,
  );
  return sql<SqlBool>`${words} like ${pattern} escape '\\'`;
}

/** RunStore on either database. Every write locks the run's row first, so that writes of a run are serialized. */
export class SqlRunStore implements RunStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async put(run: RunWrite): Promise<RunRecord> {
    const check = new InputCheck();
    const write = givenColumns('run', check, run, {});
    check.done();
    const row = mergedRow('run', undefined, write);
    return this.#session.write(async (transaction) => {
      const created = await transaction
        .insertInto('run')
        .values(row)
        .onConflict((on) => on.column('id').doNothing())
        .executeTakeFirstOrThrow();
      if (created.numInsertedOrUpdatedRows === 1n) return recordOf('run', row);
      const stored = await holdRun(transaction, row.id);
      const merged = mergedRow('run', stored, write);
      if (merged !== stored) await transaction.updateTable('run').set(merged).where('id', '=', row.id).execute();
      return recordOf('run', merged);
    });
  }

  get(id: string): Promise<RunRecord> {
    return this.#session.read(async (db) => {
      const row = await db.selectFrom('run').selectAll().where('id', '=', storable(id)).executeTakeFirst();
      if (row === undefined) throw runNotFound(id);
      return recordOf('run', row);
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
    // PostgreSQL counts in bigint, which its driver returns as text.
    return rows.map((row) => ({ ...row, count: Number(row.count) }));
  }

  async list(filter: RunFilter = {}): Promise<Page<RunSummary>> {
    const page = readPage(filter, BY_START);
    const period = readPeriod(filter);
    const { site, workflowId, startedBy, kind, phase, outcome } = filter;
    return this.#session.read(async (db) => {
      const all = matching(db.selectFrom('run').select(SUMMARY), { site, workflowId, startedBy, kind, phase, outcome });
      let query = within(all, 'startedAt', period);
      for (const [name, value] of filter.labels ?? []) query = query.where(hasLabel(name, value));
      if (filter.text !== undefined) query = query.where(holds(filter.text));
      if (filter.open !== undefined) query = query.where('endedAt', filter.open ? 'is' : 'is not', null);
      return fetchPage(
        query,
        page,
        (row) => [row.startedAt, row.id],
        (row) => recordOf('run', row),
      );
    });
  }

  async numbers(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#session.read((db) =>
      db
        .selectFrom('run')
        .select((eb) => [
          'run.id',
          eb
            .selectFrom('run as earlier')
            .select((count) => count.fn.countAll().as('count'))
            .where((or) =>
              or.or([
                or('earlier.startedAt', '<', or.ref('run.startedAt')),
                or.and([
                  or('earlier.startedAt', '=', or.ref('run.startedAt')),
                  or('earlier.id', '<=', or.ref('run.id')),
                ]),
              ]),
            )
            .as('number'),
        ])
        .where('run.id', 'in', ids.length === 0 ? [''] : ids.map(storable))
        .execute(),
    );
    return new Map(rows.map(({ id, number }) => [id, Number(number)]));
  }

  async putReport(runId: string, sequence: number, report: unknown): Promise<void> {
    const check = new InputCheck();
    const row = newRow('runReport', check, { runId, sequence, report }, {});
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
    const check = new InputCheck();
    const writes = nodes.map((node, index) => givenColumns('runNode', check, node, { runId }, `nodes[${index}].`));
    check.done();
    return this.#session.write(async (transaction) => {
      await holdRun(transaction, runId);
      const stored = await readNodes(transaction, runId, [...new Set(writes.map((row) => row.node ?? ''))]);
      const merged = new Map(stored);
      for (const write of writes) {
        const row = mergedRow('runNode', merged.get(write.node ?? ''), write);
        merged.set(row.node, row);
      }
      const changed = [...merged.values()].filter((row) => row !== stored.get(row.node));
      for (const batch of inBatches(changed)) await writeNodes(transaction, batch);
    });
  }

  listNodes(runId: string, filter: { readonly state?: string; readonly group?: string } = {}) {
    return this.#session.read(async (db) => {
      await assertRun(db, runId);
      const nodes = matching(db.selectFrom('runNode').selectAll(), { runId, state: filter.state, group: filter.group });
      return (await nodes.orderBy('node').execute()).map(nodeOf);
    });
  }

  async listNodeHistory(site: string, node: string, request: PageRequest = {}): Promise<Page<NodeHistoryEntry>> {
    const page = readPage(request, BY_START_OF_RUN);
    return this.#session.read(async (db) => {
      const query = db
        .selectFrom('runNode')
        .innerJoin('run', 'run.id', 'runNode.runId')
        .select(columnsWithout('runNode', 'sequence').map((column) => `runNode.${column}` as const))
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
      return fetchPage(
        query,
        page,
        (row) => [row.runStartedAt, row.runId],
        ({ runId, workflowId, kind, site, revision, phase, outcome, runStartedAt, runEndedAt, ...row }) => ({
          ...recordOf('runNode', row),
          run: {
            id: runId,
            workflowId,
            kind,
            site,
            revision,
            phase,
            outcome,
            startedAt: runStartedAt,
            endedAt: runEndedAt,
          },
        }),
      );
    });
  }
}

const runNotFound = (id: string) => notFound('run', id, 'List the runs.');

async function assertRun(db: Kysely<Tables>, id: string): Promise<void> {
  const row = await db.selectFrom('run').select('id').where('id', '=', storable(id)).executeTakeFirst();
  if (row === undefined) throw runNotFound(id);
}

/** Reads a run and locks it for this transaction, as holdSite does. @throws StoreError of kind `not-found` */
async function holdRun(transaction: Transaction<Tables>, id: string): Promise<Row<'run'>> {
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
): Promise<Map<string, Row<'runNode'>>> {
  const found = new Map<string, Row<'runNode'>>();
  for (const batch of inBatches(nodes)) {
    const rows = await matching(transaction.selectFrom('runNode').selectAll(), { runId, node: batch }).execute();
    for (const row of rows) found.set(row.node, row);
  }
  return found;
}

async function writeNodes(transaction: Transaction<Tables>, rows: readonly Row<'runNode'>[]): Promise<void> {
  const columns = columnsWithout('runNode', 'runId', 'node');
  await transaction
    .insertInto('runNode')
    .values(rows)
    .onConflict((on) => on.columns(['runId', 'node']).doUpdateSet(replacing<'runNode'>(columns)))
    .execute();
}

const nodeOf = ({ runId: _, sequence: __, ...row }: Row<'runNode'>): RunNode => recordOf('runNode', row);

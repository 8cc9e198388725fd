import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { NodeReport } from '../../core/contracts/site-run-report.ts';
import type { RunSubject } from '../../core/run/subject.ts';
import { notFound } from '../failure.ts';
import { fromJson, InputCheck, storable } from '../input.ts';
import type { Json, Page, PageRequest } from '../page.ts';
import type { Session } from '../session.ts';
import type { New, Row, Stored, Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { releaseClaim } from './claims.ts';
import { matching, readPeriod, within } from './conditions.ts';
import { columnsWithout, givenColumns, mergedRow, newRow, recordOf, replacing } from './conversion.ts';
import { insertRow } from './identified-row.ts';
import { fetchPage, newestFirst, readPage } from './paging.ts';
import { transactionRowOf } from './transaction-row.ts';

export type RunRecord = Stored<'run'>;

/** A run in lists. */
export type RunSummary = Omit<RunRecord, 'sequence' | 'parameters' | 'status' | 'plan'>;

/**
 * The state of a run at one moment. An absent field keeps the stored value. Writes of a run may be repeated and may
 * arrive out of order. Fields of identity and origin keep the first value ever written, whatever its sequence. Progress
 * fields are taken only from a write with a higher sequence than all before; there, null clears a field.
 */
export type RunWrite = New<'run'>;

interface RunCount {
  readonly kind: string;
  readonly phase: string;
  readonly outcome: string | null;
  readonly count: number;
}

export interface RunFilter extends PageRequest {
  readonly number?: number;
  readonly site?: string;
  /** One or several kinds. */
  readonly kind?: string | readonly string[];
  readonly phase?: string | readonly string[];
  readonly outcome?: string | readonly string[];
  readonly workflowId?: string;
  /** Only runs that have all of these. */
  readonly labels?: readonly (readonly [name: string, value: string])[];
  readonly startedBy?: string;
  /** ISO 8601; started at or after this moment. */
  readonly since?: string;
  /** ISO 8601; started before this moment. */
  readonly until?: string;
  /** Only running runs (`true`) or only ended ones (`false`). */
  readonly open?: boolean;
  /** Only runs whose id, workflow, kind, site, title, starter, reason or failure holds this, in any case. */
  readonly text?: string;
}

/** A node in one run. */
export type RunNode = Omit<Stored<'runNode'>, 'runId' | 'sequence'>;

/** A node at one moment of a run. As with RunWrite, an absent field keeps its value, and the sequence, here per run and node, decides. */
export type RunNodeWrite = New<'runNode'>;

/** A node's part in one run, with the run. */
export interface NodeHistoryEntry {
  readonly node: NodeReport;
  readonly run: Pick<
    RunSummary,
    'id' | 'workflowId' | 'kind' | 'site' | 'revision' | 'phase' | 'outcome' | 'startedAt' | 'endedAt'
  >;
}

/** All but the large columns. */
const SUMMARY = columnsWithout('run', 'sequence', 'parameters', 'status', 'plan');

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

/**
 * Records of runs: what lists, pages and reports show. Open runs write their status here. Every write may be repeated.
 *
 * Every write locks the run's row first, so that writes of a run are serialized.
 */
export class RunStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Creates or updates the run, and returns the stored one. */
  async put(run: RunWrite): Promise<RunRecord> {
    const write = checkedRun(run);
    return this.#session.write((transaction) => putRun(transaction, write));
  }

  /** As `put` and `putReport`, for an open run that shows how it stands. One that has ended stays as it ended. */
  async show(run: RunWrite, report: unknown): Promise<void> {
    const write = checkedRun(run);
    const row = reportRow(run.id, run.sequence, report);
    await this.#session.write(async (transaction) => {
      const { outcome } = (await heldRun(transaction, run.id)) ?? {};
      if (outcome != null) return;
      await putRun(transaction, write);
      await writeReport(transaction, row);
    });
  }

  /**
   * As `put` and `putReport`, for the end of a run, and releases its claim: whoever sees that it has ended finds the subject
   * free. Null, and nothing happens, unless the run has the claim of this generation: another execution or run has taken it over.
   */
  async end(run: RunWrite, report: unknown, subject: RunSubject, generation: number): Promise<RunRecord | null> {
    const write = checkedRun(run);
    const row = reportRow(run.id, run.sequence, report);
    return this.#session.write(async (transaction) => {
      // First the subject, then the run, as all others lock them.
      if (!(await releaseClaim(transaction, subject, { workflowId: run.workflowId, runId: run.id }, generation)))
        return null;
      const ended = await putRun(transaction, write);
      await writeReport(transaction, row);
      return ended;
    });
  }

  /** @throws `not-found` */
  get(id: string): Promise<RunRecord> {
    return this.#session.read(async (db) => {
      const row = await db.selectFrom('run').selectAll().where('id', '=', storable(id)).executeTakeFirst();
      if (row === undefined) throw runNotFound(id);
      return recordOf('run', row);
    });
  }

  /** Number of runs by kind, phase and outcome; the outcome of a running run is null. */
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

  /** Newest first, by start. */
  async list(filter: RunFilter = {}): Promise<Page<RunSummary>> {
    const page = readPage(filter, BY_START);
    const period = readPeriod(filter);
    const { site, number, workflowId, startedBy, kind, phase, outcome } = filter;
    return this.#session.read(async (db) => {
      const all = matching(db.selectFrom('run').select(SUMMARY), {
        site,
        number,
        workflowId,
        startedBy,
        kind,
        phase,
        outcome,
      });
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

  /** Which of these runs are stored. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#session.read((db) =>
      db
        .selectFrom('run')
        .select('id')
        .where('id', 'in', ids.length === 0 ? [''] : ids.map(storable))
        .execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Stores a report, any JSON of any size, for a stored run. Drops it if its sequence is not higher than the stored
   * one.
   */
  async putReport(runId: string, sequence: number, report: unknown): Promise<void> {
    const row = reportRow(runId, sequence, report);
    return this.#session.write(async (transaction) => {
      await holdRun(transaction, runId);
      await writeReport(transaction, row);
    });
  }

  /** The newest report; undefined while there is none. @throws `not-found` for the run. */
  async getReport(runId: string): Promise<Json | undefined> {
    const row = await this.#session.read(async (db) => {
      await assertRun(db, runId);
      return db.selectFrom('runReport').select('report').where('runId', '=', storable(runId)).executeTakeFirst();
    });
    return row === undefined ? undefined : fromJson(row.report);
  }

  /** Updates any number of nodes of a stored run, all or none. @throws `not-found` for the run. */
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

  /** Forgets the nodes whose newest record has a number below this: a run that was reset to before its plan may not have them any more. */
  dropNodes(runId: string, below: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await holdRun(transaction, runId);
      await transaction
        .deleteFrom('runNode')
        .where('runId', '=', storable(runId))
        .where('sequence', '<', below)
        .execute();
    });
  }

  /** By node name, ascending. @throws `not-found` for the run. */
  listNodes(runId: string): Promise<readonly RunNode[]> {
    return this.#session.read(async (db) => {
      await assertRun(db, runId);
      const nodes = db.selectFrom('runNode').selectAll().where('runId', '=', storable(runId));
      return (await nodes.orderBy('node').execute()).map(nodeOf);
    });
  }

  /** One node of a site over its runs, newest first. */
  async listNodeHistory(site: string, node: string, request: PageRequest = {}): Promise<Page<NodeHistoryEntry>> {
    const page = readPage(request, BY_START_OF_RUN);
    return this.#session.read(async (db) => {
      const query = db
        .selectFrom('runNode')
        .innerJoin('run', 'run.id', 'runNode.runId')
        .select(['runNode.runId', 'runNode.report'])
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
        ({ runId, workflowId, kind, site, revision, phase, outcome, runStartedAt, runEndedAt, report }) => ({
          node: JSON.parse(report) as NodeReport,
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

function reportRow(runId: string, sequence: number, report: unknown) {
  const check = new InputCheck();
  const row = newRow('runReport', check, { runId, sequence, report }, {});
  check.done();
  return row;
}

async function writeReport(transaction: Transaction<Tables>, row: ReturnType<typeof reportRow>): Promise<void> {
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
}

const runNotFound = (id: string) => notFound('run', id, 'List the runs.');

async function assertRun(db: Kysely<Tables>, id: string): Promise<void> {
  const row = await db.selectFrom('run').select('id').where('id', '=', storable(id)).executeTakeFirst();
  if (row === undefined) throw runNotFound(id);
}

/** Of a run that has ended. */
const NO_STATUS = { paused: false, held: false, awaitingApproval: false, status: null, statusAt: null };

function checkedRun(run: RunWrite) {
  const check = new InputCheck();
  const hasEnded = run.outcome !== undefined && run.outcome !== null;
  const write = givenColumns('run', check, hasEnded ? { ...run, ...NO_STATUS } : run, {});
  check.done();
  return write;
}

async function putRun(transaction: Transaction<Tables>, write: ReturnType<typeof checkedRun>): Promise<RunRecord> {
  const id = write.id!;
  const known = await transaction.selectFrom('run').select('id').where('id', '=', id).executeTakeFirst();
  if (known === undefined) {
    const number = write.number ?? (await nextNumber(transaction));
    const row = mergedRow('run', undefined, { ...write, number });
    const created = await transaction
      .insertInto('run')
      .values(row)
      .onConflict((on) => on.column('id').doNothing())
      .executeTakeFirstOrThrow();
    if (created.numInsertedOrUpdatedRows === 1n) return recordOf('run', row);
  }
  const stored = await holdRun(transaction, id);
  const merged = mergedRow('run', stored, write);
  if (merged !== stored) await transaction.updateTable('run').set(merged).where('id', '=', id).execute();
  return recordOf('run', merged);
}

/** One number never means two runs: runs and transactions share theirs. */
async function nextNumber(transaction: Transaction<Tables>): Promise<number> {
  const { id } = await insertRow(
    transaction,
    'deploymentTransaction',
    transactionRowOf({ name: 'number', clusterId: null }),
  );
  await transaction.deleteFrom('deploymentTransaction').where('id', '=', id).execute();
  return id;
}

/** Reads a run and locks it for this transaction, as holdSite does. @throws StoreError of kind `not-found` */
async function holdRun(transaction: Transaction<Tables>, id: string): Promise<Row<'run'>> {
  const row = await heldRun(transaction, id);
  if (row === undefined) throw runNotFound(id);
  return row;
}

const heldRun = (transaction: Transaction<Tables>, id: string): Promise<Row<'run'> | undefined> =>
  transaction
    .updateTable('run')
    .set((column) => ({ sequence: column.ref('sequence') }))
    .where('id', '=', storable(id))
    .returningAll()
    .executeTakeFirst();

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

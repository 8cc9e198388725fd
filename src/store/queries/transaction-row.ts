import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder, Kysely } from 'kysely';
import { isTransactionOpen, type TransactionStatus } from '../../core/words.ts';
import { InputCheck } from '../input.ts';
import type { Change, New, NewRow, Own, Row, Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';
import { changedColumns, columnsWithout, newRow, recordOf } from './conversion.ts';

export type TransactionRow = Row<'deploymentTransaction'>;
type NewTransactionRow = NewRow<'deploymentTransaction'>;

/** The rows of a run and its graphs; the graphs' parent is set later. @throws StoreError of kind `invalid` */
export function runRowsOf(run: NewRun): { readonly run: NewTransactionRow; readonly graphs: NewTransactionRow[] } {
  const check = new InputCheck();
  const { graphs, name = 'deploy', input, timeStart = new Date().toISOString(), ...common } = run;
  if (graphs.length === 0) check.refuse('graphs', 'A run needs at least one graph.', 'Name a graph type.');
  const row = newRow(
    'deploymentTransaction',
    check,
    { name, timeStart },
    { ...common, uuid: randomUUID(), status: 'running', input },
  );
  const ofGraphs = graphs.map(({ name: graph = 'deployment', graphType, input: request }, index) => {
    const own = { graphType, input: request, uuid: randomUUID(), status: 'waiting' } as const;
    const given = newRow('deploymentTransaction', check, { name: graph }, own, `graphs[${index}].`);
    const { clusterId, mode, force, debug, workflowId, temporalRunId, startedBy } = row;
    return { ...given, clusterId, mode, force, debug, workflowId, temporalRunId, startedBy };
  });
  check.done();
  return { run: row, graphs: ofGraphs };
}

/** The row of a transaction that is not a run. @throws StoreError of kind `invalid` */
export function transactionRowOf(given: NewTransaction): NewTransactionRow {
  const check = new InputCheck();
  const now = new Date().toISOString();
  const { status = 'running', timeStart = now } = given;
  const ended = isTransactionOpen(status) ? {} : { timeEnd: now };
  const row = newRow('deploymentTransaction', check, { ...ended, ...given, timeStart }, { uuid: randomUUID(), status });
  check.done();
  return row;
}

export type CheckedChange = ReturnType<typeof checkedChange>;

/** @throws StoreError of kind `invalid` */
export function checkedChange(change: TransactionChange) {
  const check = new InputCheck();
  const columns = changedColumns('deploymentTransaction', check, change);
  check.done();
  return columns;
}

/** Applies a change to a transaction by the rules of TransactionChange. */
export function changedTransaction(stored: TransactionRow, change: CheckedChange, now: string): TransactionRow {
  const open = isTransactionOpen(stored.status);
  const status = (open && change.status) || stored.status;
  const ends = open && !isTransactionOpen(status);
  const started = change.timeStart ?? (status === 'running' ? now : null);
  return {
    ...stored,
    workflowId: change.workflowId ?? stored.workflowId,
    temporalRunId: change.temporalRunId ?? stored.temporalRunId,
    planHash: change.planHash ?? stored.planHash,
    timeStart: open && change.timeStart !== undefined ? change.timeStart : (stored.timeStart ?? started),
    ...(open && {
      status,
      message: change.message === undefined ? stored.message : change.message,
      result: change.result ?? stored.result,
      timeEnd: change.timeEnd ?? (ends ? now : stored.timeEnd),
    }),
  };
}

const OWN = columnsWithout('deploymentTransaction', 'status', 'message', 'timeEnd').map(
  (name) => `own.${name}` as const,
);

/** The rows of transactions. That of a run ends when the run does: its outcome, failure and end are those of its record. */
export const transactionsIn = (db: Kysely<Tables>) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('deploymentTransaction as own')
        .leftJoin('run', (join) => join.onRef('run.number', '=', 'own.id').on('run.outcome', 'is not', null))
        .select(OWN)
        .select(({ fn, ref }) => [
          fn.coalesce(ref('run.outcome').$castTo<TransactionStatus>(), 'own.status').as('status'),
          fn.coalesce('run.failure', 'own.message').as('message'),
          fn.coalesce('run.endedAt', 'own.timeEnd').as('timeEnd'),
        ])
        .as('deploymentTransaction'),
    )
    .selectAll();

/** The transactions that match a filter. */
export function filteredTransactions(db: Kysely<Tables>, filter: TransactionFilter) {
  const { ids, clusterId, statuses, names, parentId, workflowId, hidden } = filter;
  const query = matching(transactionsIn(db), {
    id: ids,
    clusterId,
    status: statuses,
    name: names,
    parentId,
    workflowId,
  });
  return hidden === undefined ? query : query.where('deletedAt', hidden ? 'is not' : 'is', null);
}

/** Condition: the transaction or a child of it. */
export const selfOrChild = (eb: ExpressionBuilder<Tables, 'deploymentTransaction'>, id: number) =>
  eb.or([eb('deploymentTransaction.id', '=', id), eb('deploymentTransaction.parentId', '=', id)]);

export const transactionOf = (row: TransactionRow): TransactionRecord => recordOf('deploymentTransaction', row);

export type RunValues = Own<'deploymentTransaction'>;

export interface NewRun
  extends Pick<RunValues, 'mode' | 'force' | 'debug' | 'input' | 'workflowId' | 'temporalRunId' | 'startedBy'> {
  readonly clusterId: number;
  /** Default `deploy`. */
  readonly name?: string;
  /** In order. */
  readonly graphs: readonly {
    readonly graphType: string;
    /** Default `deployment`. */
    readonly name?: string;
    readonly input?: unknown;
  }[];
  /** Default: now. */
  readonly timeStart?: string;
}

/** Work that is not a graph run: `stop_deployment`, `check_before_deployment` … */
export type NewTransaction = Omit<New<'deploymentTransaction'>, 'mode' | 'force' | 'debug'>;

/** Absent fields keep their values. */
export type TransactionChange = Pick<
  Change<'deploymentTransaction'>,
  'message' | 'result' | 'workflowId' | 'temporalRunId' | 'timeStart' | 'timeEnd' | 'planHash'
> & {
  /**
   * The first outcome is final: a later status, message, result or `timeEnd` changes nothing, so that calls may be
   * repeated and arrive late. An outcome sets `timeEnd` to now unless given; `running` sets `timeStart` to now if it is
   * unset.
   */
  readonly status?: TransactionStatus;
};

export interface TransactionFilter {
  readonly ids?: readonly number[];
  readonly clusterId?: number;
  readonly statuses?: readonly TransactionStatus[];
  readonly names?: readonly string[];
  /** Null: only those without a parent. */
  readonly parentId?: number | null;
  readonly workflowId?: string;
  /** True: only hidden ones; false: only the others; absent: all. */
  readonly hidden?: boolean;
}

/** A task in Fuel's terms: a run (`deploy`), or one of its graphs (`deployment`), whose parent is the run. */
export type TransactionRecord = Stored<'deploymentTransaction'>;

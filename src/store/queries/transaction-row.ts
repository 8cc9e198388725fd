import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder, Kysely } from 'kysely';
import { fromJson, InputCheck, storable } from '../input.js';
import type {
  NewRun,
  NewTransaction,
  TransactionChange,
  TransactionFilter,
  TransactionRecord,
  TransactionStatus,
} from '../ports/transaction-store.js';
import type { DeploymentTransactionRow } from '../tables/graph-rows.js';
import type { Tables } from '../tables.js';
import { isId } from './identified-row.js';
import { isOpen } from './open-run.js';

export type NewTransactionRow = Omit<DeploymentTransactionRow, 'id'>;

const textOf = (value: string | null | undefined): string | null => (value == null ? null : storable(value));

const EMPTY: Omit<NewTransactionRow, 'uuid' | 'name' | 'status'> = {
  clusterId: null,
  parentId: null,
  progress: 0,
  message: null,
  result: '{}',
  graphType: null,
  mode: 'apply',
  force: 0,
  debug: 0,
  input: null,
  workflowId: null,
  temporalRunId: null,
  startedBy: null,
  timeStart: null,
  timeEnd: null,
  deletedAt: null,
  planHash: null,
};

/** The rows of a run and its graphs; the graphs' parent is filled in later. @throws StoreError of kind `invalid` */
export function runRowsOf(run: NewRun): { readonly run: NewTransactionRow; readonly graphs: NewTransactionRow[] } {
  const check = new InputCheck();
  const key = (path: string, value: string | undefined) => (value === undefined ? null : check.key(path, value));
  const input = (path: string, value: unknown) => (value === undefined ? null : check.json(path, value));
  const common = {
    ...EMPTY,
    clusterId: run.clusterId,
    mode: run.mode ?? 'apply',
    force: Number(run.force ?? false),
    debug: Number(run.debug ?? false),
    workflowId: key('workflowId', run.workflowId),
    temporalRunId: key('temporalRunId', run.temporalRunId),
    startedBy: textOf(run.startedBy),
  };
  if (run.graphs.length === 0) check.refuse('graphs', 'A run needs at least one graph.', 'Name a type of graph.');
  const graphs = run.graphs.map((graph, index) => ({
    ...common,
    uuid: randomUUID(),
    name: check.key(`graphs[${index}].name`, graph.name ?? 'deployment'),
    status: 'pending',
    graphType: check.key(`graphs[${index}].graphType`, graph.graphType),
    input: input(`graphs[${index}].input`, graph.input),
  }));
  const row = {
    ...common,
    uuid: randomUUID(),
    name: check.key('name', run.name ?? 'deploy'),
    status: 'running',
    input: input('input', run.input),
    timeStart: check.time('timeStart', run.timeStart ?? new Date().toISOString()),
  };
  check.done();
  return { run: row, graphs };
}

/** The row of work that is no run. @throws StoreError of kind `invalid` */
export function transactionRowOf(given: NewTransaction): NewTransactionRow {
  const check = new InputCheck();
  const now = new Date().toISOString();
  const status = given.status ?? 'running';
  const row: NewTransactionRow = {
    ...EMPTY,
    uuid: randomUUID(),
    clusterId: given.clusterId ?? null,
    parentId: given.parentId ?? null,
    name: check.key('name', given.name),
    status,
    progress: given.progress === undefined ? (isOpen(status) ? 0 : 100) : check.count('progress', given.progress),
    message: textOf(given.message),
    result: given.result === undefined ? '{}' : check.json('result', given.result),
    startedBy: textOf(given.startedBy),
    timeStart: check.time('timeStart', given.timeStart ?? now),
    timeEnd: given.timeEnd === undefined ? (isOpen(status) ? null : now) : check.time('timeEnd', given.timeEnd),
  };
  check.done();
  return row;
}

export type CheckedChange = ReturnType<typeof checkedChange>;

/** @throws StoreError of kind `invalid` */
export function checkedChange(change: TransactionChange) {
  const check = new InputCheck();
  const key = (path: string, value: string | undefined) => (value === undefined ? undefined : check.key(path, value));
  const time = (path: string, value: string | undefined) => (value === undefined ? undefined : check.time(path, value));
  const columns = {
    status: change.status,
    progress: change.progress === undefined ? undefined : check.count('progress', change.progress),
    message: change.message === undefined ? undefined : textOf(change.message),
    result: change.result === undefined ? undefined : check.json('result', change.result),
    workflowId: key('workflowId', change.workflowId),
    temporalRunId: key('temporalRunId', change.temporalRunId),
    timeStart: time('timeStart', change.timeStart),
    timeEnd: time('timeEnd', change.timeEnd),
    planHash: key('planHash', change.planHash),
  };
  check.done();
  return columns;
}

/** What a transaction becomes when a change arrives: the rules of TransactionChange. */
export function changedTransaction(
  stored: DeploymentTransactionRow,
  change: CheckedChange,
  now: string,
): DeploymentTransactionRow {
  const open = isOpen(stored.status);
  const status = (open && change.status) || stored.status;
  const ends = open && !isOpen(status);
  const started = change.timeStart ?? (status === 'running' ? now : null);
  return {
    ...stored,
    workflowId: change.workflowId ?? stored.workflowId,
    temporalRunId: change.temporalRunId ?? stored.temporalRunId,
    planHash: change.planHash ?? stored.planHash,
    timeStart: open && change.timeStart !== undefined ? change.timeStart : (stored.timeStart ?? started),
    ...(open && {
      status,
      progress: change.progress ?? (ends ? 100 : stored.progress),
      message: change.message === undefined ? stored.message : change.message,
      result: change.result ?? stored.result,
      timeEnd: change.timeEnd ?? (ends ? now : stored.timeEnd),
    }),
  };
}

/** The transactions a filter lets through; undefined when it can let none through. */
export function filteredTransactions(db: Kysely<Tables>, filter: TransactionFilter) {
  const ids = filter.ids?.filter(isId);
  const texts = [filter.statuses, filter.names, filter.graphTypes];
  const numbers = [filter.clusterId, filter.parentId].filter((id) => id != null);
  if (ids?.length === 0 || texts.some((values) => values?.length === 0) || !numbers.every(isId)) return undefined;
  let query = db.selectFrom('deploymentTransaction').selectAll();
  if (ids !== undefined) query = query.where('id', 'in', ids);
  if (filter.clusterId !== undefined) query = query.where('clusterId', '=', filter.clusterId);
  if (filter.statuses !== undefined) query = query.where('status', 'in', filter.statuses);
  if (filter.names !== undefined) query = query.where('name', 'in', filter.names.map(storable));
  if (filter.graphTypes !== undefined) query = query.where('graphType', 'in', filter.graphTypes.map(storable));
  if (filter.parentId === null) query = query.where('parentId', 'is', null);
  else if (filter.parentId !== undefined) query = query.where('parentId', '=', filter.parentId);
  if (filter.workflowId !== undefined) query = query.where('workflowId', '=', storable(filter.workflowId));
  if (filter.hidden !== undefined) query = query.where('deletedAt', filter.hidden ? 'is not' : 'is', null);
  return query;
}

/** Condition: the transaction or a child of it. */
export const selfOrChild = (eb: ExpressionBuilder<Tables, 'deploymentTransaction'>, id: number) =>
  eb.or([eb('deploymentTransaction.id', '=', id), eb('deploymentTransaction.parentId', '=', id)]);

export const transactionOf = (row: DeploymentTransactionRow): TransactionRecord => ({
  ...row,
  status: row.status as TransactionStatus,
  mode: row.mode as TransactionRecord['mode'],
  result: fromJson(row.result),
  input: fromJson(row.input),
  force: row.force !== 0,
  debug: row.debug !== 0,
});

import { given } from '../../src/core/data/given.ts';
import { percentOf } from '../../src/core/graph-run/task-counts.ts';
import type { TaskEnd, TaskRow } from '../../src/core/graph-run/task-end.ts';
import type { HistoryWrite, Store } from '../../src/store/index.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type { GraphActivities, RecordTasks } from '../graph-contract.ts';
import { graphOfRun, proveTransaction } from '../run/transactions.ts';

/** More than the rows of any batch, so that sequences order rows within a batch and across batches. */
const ROWS_A_BATCH = 100_000;
/** Of one claim: with ten numbers a second, more than a hundred days. */
const BATCHES_A_CLAIM = 100_000_000;

/** Records the history of tasks and shows the progress of their nodes. Safe to repeat, in any order. */
export function taskRecordActivities(deps: ActivityDependencies): Pick<GraphActivities, 'record_tasks'> {
  const { store } = deps;
  return {
    record_tasks: (request) =>
      translated(async () => {
        const { run } = await graphOfRun(store, request);
        const generation = await proveTransaction(deps, run);
        const sequence = (generation - 1) * BATCHES_A_CLAIM + request.sequence;
        await store.taskHistory.record(request.graph, historyWrites({ ...request, sequence }));
        await showProgress(store, request);
      }),
  };
}

/** One write per task of the batch: its newest row, with the start time of an earlier row. */
function historyWrites({ sequence, rows }: Pick<RecordTasks, 'sequence' | 'rows'>): HistoryWrite[] {
  const writes = new Map<string, HistoryWrite>();
  rows.forEach((row, at) => {
    const key = JSON.stringify([row.task, row.node]);
    const before = writes.get(key);
    if (before !== undefined && before.attempt > row.attempt) return;
    const known = before !== undefined && before.attempt === row.attempt ? before : {};
    writes.set(key, { ...known, ...historyWrite(row, sequence * ROWS_A_BATCH + at) });
  });
  return [...writes.values()];
}

function historyWrite(row: TaskRow, sequence: number): HistoryWrite {
  const { end } = row;
  const start = end?.started_at ?? row.started_at;
  const ended = row.ended_at ?? end?.ended_at;
  return {
    node: row.node,
    task: row.task,
    status: row.status,
    attempt: row.attempt,
    sequence,
    ...given({ timeStart: start, timeEnd: ended, rootCause: row.root_cause }),
    ...(end?.message === undefined ? {} : { message: end.message }),
    ...(end === undefined ? {} : { summary: summaryOf(end) }),
  };
}

function summaryOf(end: TaskEnd): Readonly<Record<string, unknown>> {
  const { outcome, failure_kind, exit_code, changed, tries, output, summary } = end;
  return {
    ...summary,
    outcome,
    ...given({ failure_kind, exit_code, changed, tries, output }),
  };
}

/** Updates the percentage of tasks done of the nodes. */
async function showProgress(store: Store, { graph, rows }: RecordTasks): Promise<void> {
  const touched = [...new Set(rows.map(({ node }) => node))].filter((node) => /^\d+$/.test(node));
  // Skip nodes that were removed from the inventory meanwhile.
  const there = await store.nodes.list({ ids: touched.map(Number) });
  const byNode = touched.length === 0 ? {} : await store.taskHistory.countByNode(graph, { nodes: touched });
  await store.nodes.updateMany(
    there.flatMap(({ id }) => {
      const counts = byNode[String(id)];
      return counts === undefined ? [] : [{ id, change: { progress: percentOf(counts) } }];
    }),
  );
}

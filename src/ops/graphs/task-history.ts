import { given } from '../../core/data/given.ts';
import { isMapping } from '../../core/data/plain-value.ts';
import { endedStatus } from '../../core/graph-run/task-counts.ts';
import type { RootCause } from '../../core/task-on-node.ts';
import { isTransactionOpen, type TaskStatus } from '../../core/words.ts';
import { type Fields, type GraphTask, normaliseTask, presentTask } from '../../graph/index.ts';
import type { Store, TaskHistoryRow, TransactionRecord } from '../../store/index.ts';

/** The outcome of a task on a node. Further fields come from the task's definition. */
export interface HistoryRecord<Word extends string = TaskStatus> {
  readonly task_name: string;
  /** `-`: the task was in the graph but on no node. */
  readonly node_id: string;
  readonly status: Word;
  readonly time_start: string | null;
  readonly time_end: string | null;
  readonly root_cause?: RootCause;
  readonly [field: string]: unknown;
}

/** All that is given must hold. */
export interface HistoryFilter<Word extends string = TaskStatus> {
  readonly nodes?: readonly string[];
  readonly statuses?: readonly Word[];
  readonly tasks?: readonly string[];
  readonly includeSummary?: boolean;
}

/** The node of a task that is on no node. */
const NOWHERE = '-';

/** The word for a task of a stored status; `isOver`: its graph has ended. */
export type HistoryWord<Word extends string> = (status: TaskStatus, isOver: boolean) => Word;

/** That of the status and the report of a run. */
export const wordOfRuns: HistoryWord<TaskStatus> = (status, isOver) => (isOver ? endedStatus(status) : status);

/**
 * The history of a graph's transaction, or of all graphs of a run, in order: a record for each task on each node, and
 * one for each task without nodes. @throws `not-found`
 */
export async function taskHistory<Word extends string>(
  store: Store,
  id: number,
  filter: HistoryFilter<Word>,
  wordOf: HistoryWord<Word>,
): Promise<readonly HistoryRecord<Word>[]> {
  const { run, graphs } = await store.transactions.getRun(id);
  const wanted = run.id === id ? graphs : graphs.filter((graph) => graph.id === id);
  const lists = await Promise.all(wanted.map((graph) => ofGraph(store, graph, filter, wordOf)));
  return lists.flat();
}

async function ofGraph<Word extends string>(
  store: Store,
  { id, status }: TransactionRecord,
  filter: HistoryFilter<Word>,
  wordOf: HistoryWord<Word>,
): Promise<readonly HistoryRecord<Word>[]> {
  const [text, rows, placed] = await Promise.all([
    store.transactions.getSnapshot(id, 'tasks'),
    store.taskHistory.list(id, given({ nodes: filter.nodes, tasks: filter.tasks })),
    store.taskHistory.taskNames(id),
  ]);
  const definitions = definitionsIn(text);
  const word = (of: TaskStatus): Word => wordOf(of, !isTransactionOpen(status));
  const passes = (record: HistoryRecord<Word>): boolean =>
    (filter.nodes?.includes(record.node_id) ?? true) &&
    (filter.statuses?.includes(record.status) ?? true) &&
    (filter.tasks?.includes(record.task_name) ?? true);
  const onNodes = new Set(placed);
  const nowhere = [...definitions]
    .filter(([name]) => !onNodes.has(name))
    .map(([name, fields]): HistoryRecord<Word> => {
      const summary = filter.includeSummary ? { summary: {} } : {};
      return {
        ...fields,
        task_name: name,
        node_id: NOWHERE,
        status: word('skipped'),
        time_start: null,
        time_end: null,
        ...summary,
      };
    });
  const placedRecords = rows.map((row) => ({
    ...recordOf(row, definitions.get(row.task), filter.includeSummary ?? false),
    status: word(row.status),
  }));
  return [...placedRecords, ...nowhere].filter(passes);
}

function recordOf(row: TaskHistoryRow, fields: Fields | undefined, includeSummary: boolean) {
  const custom = isMapping(row.custom) ? row.custom : {};
  return {
    ...fields,
    ...custom,
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.rootCause === null ? {} : { root_cause: row.rootCause }),
    ...(row.attempts > 1 ? { attempts: row.attempts } : {}),
    task_name: row.task,
    node_id: row.node,
    time_start: row.timeStart,
    time_end: row.timeEnd,
    ...(includeSummary ? { summary: row.summary ?? {} } : {}),
  };
}

/** The definitions at planning time by id, as graphs show them. */
function definitionsIn(text: string | undefined): ReadonlyMap<string, Fields> {
  if (text === undefined) return new Map();
  const tasks = JSON.parse(text) as readonly Fields[];
  return new Map(
    tasks.map((task) => {
      const { id, ...fields } = presentTask(normaliseTask(task) as GraphTask);
      return [String(id), fields] as const;
    }),
  );
}

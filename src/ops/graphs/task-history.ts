import { isMapping } from '../../core/data/plain-value.ts';
import { type Fields, type GraphTask, normaliseTask, presentTask } from '../../graph/index.ts';
import { type FuelTaskStatus, fuelTaskStatus, type Store, type TaskHistoryRow } from '../../store/index.ts';
import { problem } from '../problem.ts';

/** The outcome of a task on a node. Further fields come from the task's definition. */
export interface HistoryRecord {
  readonly task_name: string;
  /** `-`: the task was in the graph but on no node. */
  readonly node_id: string;
  readonly status: FuelTaskStatus;
  readonly time_start: string | null;
  readonly time_end: string | null;
  readonly [field: string]: unknown;
}

/** All that is given must hold. */
export interface HistoryFilter {
  readonly nodes?: readonly string[];
  readonly statuses?: readonly string[];
  readonly tasks?: readonly string[];
  readonly includeSummary?: boolean;
}

const FUEL_TASK_STATUSES: readonly FuelTaskStatus[] = ['pending', 'ready', 'running', 'error', 'skipped'];

/** The node of a task that is on no node. */
const NOWHERE = '-';

/**
 * The history of a graph's transaction, or of all graphs of a run, in order: a record for each task on each node, and
 * one for each task without nodes. @throws `invalid` for an unknown status; `not-found`
 */
export async function taskHistory(store: Store, id: number, filter: HistoryFilter): Promise<readonly HistoryRecord[]> {
  const odd = filter.statuses?.filter((status) => !(FUEL_TASK_STATUSES as readonly string[]).includes(status)) ?? [];
  if (odd.length > 0) {
    throw problem('invalid', `Statuses parameter could be only: ${FUEL_TASK_STATUSES.join(', ')}`, {
      hint: `Not a status: ${odd.slice(0, 10).join(', ').slice(0, 200)}.`,
    });
  }
  const { run, graphs } = await store.transactions.getRun(id);
  const wanted = run.id === id ? graphs : graphs.filter((graph) => graph.id === id);
  const lists = await Promise.all(wanted.map((graph) => ofGraph(store, graph.id, filter)));
  return lists.flat();
}

async function ofGraph(store: Store, id: number, filter: HistoryFilter): Promise<readonly HistoryRecord[]> {
  const [text, rows] = await Promise.all([store.transactions.getSnapshot(id, 'tasks'), store.taskHistory.list(id)]);
  const definitions = definitionsIn(text);
  const passes = (record: HistoryRecord): boolean =>
    (filter.nodes?.includes(record.node_id) ?? true) &&
    (filter.statuses?.includes(record.status) ?? true) &&
    (filter.tasks?.includes(record.task_name) ?? true);
  const placed = new Set(rows.map(({ task }) => task));
  const nowhere = [...definitions]
    .filter(([name]) => !placed.has(name))
    .map(([name, fields]): HistoryRecord => {
      const summary = filter.includeSummary ? { summary: {} } : {};
      return {
        ...fields,
        task_name: name,
        node_id: NOWHERE,
        status: 'skipped',
        time_start: null,
        time_end: null,
        ...summary,
      };
    });
  return [...rows.map((row) => recordOf(row, definitions.get(row.task), filter)), ...nowhere].filter(passes);
}

function recordOf(row: TaskHistoryRow, fields: Fields | undefined, { includeSummary }: HistoryFilter): HistoryRecord {
  const custom = isMapping(row.custom) ? row.custom : {};
  return {
    ...fields,
    ...custom,
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.rootCause === null ? {} : { root_cause: row.rootCause }),
    ...(row.attempts > 1 ? { attempts: row.attempts } : {}),
    task_name: row.task,
    node_id: row.node,
    status: fuelTaskStatus[row.status],
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

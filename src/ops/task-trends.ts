import type { TaskTrends } from '../core/contracts/run-tasks.ts';
import { together } from '../core/data/together.ts';
import { graphRunOf } from '../core/run/subject.ts';
import { GRAPH_RUN_KIND } from '../core/words.ts';
import type { RunSummary, Store, TaskHistoryRow } from '../store/index.ts';
import { type Remembered, remembered } from './remembered.ts';
import { median, secondsOf } from './usual-times.ts';

/** Runs that are looked at, the newest ones that have ended. */
const RUNS = 20;
/** Nodes of each: a median needs no more. */
const NODES = 60;
/** Slower tasks come first, and no more of them are shown. */
const TASKS = 100;

/** How a task did on the nodes of one run. */
interface TaskInRun {
  readonly task: string;
  readonly isFailed: boolean;
  /** The median of its nodes. */
  readonly seconds: number | null;
  /** On so many nodes it ended; on so many it succeeded with its first attempt. */
  readonly ended: number;
  readonly first: number;
}

/** How the tasks of a cluster did in its last runs. Reads the tasks of each run once. */
export function taskTrends(store: Store) {
  const kept: Remembered<readonly TaskInRun[]> = new Map();

  async function read(run: RunSummary): Promise<readonly TaskInRun[]> {
    const found = await store.transactions.findRun(run.workflowId, run.temporalRunId ?? undefined);
    const rows = await Promise.all(
      (found?.graphs ?? []).map(async ({ id }) => {
        const nodes = Object.keys(await store.taskHistory.countByNode(id)).slice(0, NODES);
        return store.taskHistory.list(id, { nodes, statuses: ['success', 'failed', 'ignored'] });
      }),
    );
    // Stages, and tasks that only plans have, had no attempt.
    const tried = rows.flat().filter(({ attempts }) => attempts > 0);
    return [...together(tried, ({ task }) => task)].map(([task, own]) => inRun(task, own));
  }

  return async (cluster: number, only?: string): Promise<TaskTrends> => {
    const { items } = await store.runs.list({
      ...{ kind: GRAPH_RUN_KIND, labels: [['cluster', String(cluster)]], open: false, limit: RUNS },
    });
    const runs = items.filter((run) => graphRunOf(run).transaction !== null);
    const done = await Promise.all(
      runs.map(async (run) => ({ run, tasks: await remembered(kept, run.id, () => read(run)) })),
    );
    const all = done.flatMap(({ run, tasks }) =>
      tasks.filter(({ task }) => only === undefined || task === only).map((one) => ({ ...one, run })),
    );
    const tasks = [...together(all, ({ task }) => task)].map(([task, own]) => ({
      ...{ task, ...attemptsOf(own) },
      seconds: median(own.flatMap(({ seconds }) => seconds ?? [])) ?? null,
      past: own.map(({ run: { id, startedAt }, isFailed, seconds }) => ({
        ...{ run: id, at: startedAt, seconds },
        outcome: isFailed ? ('failed' as const) : ('success' as const),
      })),
    }));
    tasks.sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1) || (a.task < b.task ? -1 : 1));
    return {
      runs: done.filter(({ tasks: own }) => own.length > 0).length,
      ...attemptsOf(all),
      tasks: tasks.slice(0, TASKS),
    };
  };
}

function inRun(task: string, rows: readonly TaskHistoryRow[]): TaskInRun {
  const took = rows.flatMap(({ timeStart, timeEnd }) => secondsOf(task, timeStart, timeEnd));
  return {
    task,
    isFailed: rows.some(({ status }) => status !== 'success'),
    seconds: median(took.map(([, seconds]) => seconds)) ?? null,
    ended: rows.length,
    first: rows.filter(({ status, attempts }) => status === 'success' && attempts === 1).length,
  };
}

const attemptsOf = (all: readonly TaskInRun[]) => ({
  ended: all.reduce((sum, { ended }) => sum + ended, 0),
  first_attempts: all.reduce((sum, { first }) => sum + first, 0),
});

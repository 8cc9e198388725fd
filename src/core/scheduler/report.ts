import { NO_TASKS } from '../graph-run/task-counts.ts';
import { compareText } from '../text/text.ts';
import { keyOf, taskCount } from './graph.ts';
import { failedBit } from './part-messages.ts';
import type { Scheduler } from './state.ts';
import { isStopping } from './state.ts';
import type { NodeStatus, TaskStatus } from './status.ts';
import { code, isFailed, isFinal, statusOf } from './status.ts';
import { endOfGraph, type GraphEnd } from './tolerance.ts';

/** How a finished run ended. */
export const endOf = (s: Scheduler): GraphEnd =>
  endOfGraph(s.tolerance, s.stopped && s.status.includes(code.notReached) ? 'stopped' : 'success');

interface TaskReport {
  readonly task: string;
  readonly status: TaskStatus;
  readonly attempts: number;
  /** Of a blocked task: the first cause found. `rootCauses` returns all. */
  readonly cause?: string;
}

/** The state of every task, in plan order. Linear in the size of the run: for queries and reports, not for each event. */
export function taskReports(s: Scheduler): TaskReport[] {
  return s.graph.nameOf.map((_, task) => {
    const c = s.status[task]!;
    return {
      task: keyOf(s.graph, task),
      status: statusOf(c),
      attempts: s.attempts[task]!,
      ...(c === code.blocked ? { cause: s.causes[s.cause[task]!]! } : {}),
    };
  });
}

/**
 * The same as people are shown it: a task without work is skipped from the start, whatever the scheduler passes on
 * through it.
 */
export const shownReports = (s: Scheduler): TaskReport[] =>
  taskReports(s).map((report, task) =>
    s.graph.noWork[task] === 1 ? { task: report.task, status: 'skipped', attempts: 0 } : report,
  );

/** The final status of a node, derived from its tasks; `undefined` while it has tasks to run. */
export function nodeStatus(s: Scheduler, node: number): NodeStatus | undefined {
  if (s.lostOn[node]! > 0) return 'failed';
  let undone = false;
  for (const task of s.tasksOfNode[node]!) {
    const c = s.status[task]!;
    if (!isFinal(c)) return undefined;
    undone ||= c === code.notReached;
  }
  return undone ? 'not_reached' : 'success';
}

interface Progress {
  readonly tasks: Readonly<Record<TaskStatus, number>>;
  readonly running: readonly string[];
  readonly failed: readonly string[];
  readonly stopping: boolean;
  readonly paused: boolean;
}

/** Counts for a status line. Linear in the size of the run. */
export function progress(s: Scheduler): Progress {
  const tasks: Record<TaskStatus, number> = { ...NO_TASKS };
  const running: string[] = [];
  const failed: string[] = [];
  for (let task = 0; task < taskCount(s.graph); task++) {
    const c = s.status[task]!;
    tasks[statusOf(c)]++;
    if (c === code.running || c === code.retrying) running.push(keyOf(s.graph, task));
    if (c === code.failed) failed.push(keyOf(s.graph, task));
  }
  return { tasks, running, failed, stopping: isStopping(s), paused: s.paused };
}

/**
 * By blocked task, the failed tasks (or `offline:<node>`) that explain it, at most `limit` each:
 * the ones before it, or the one that failed its node. Walks each edge once.
 */
export function rootCauses(s: Scheduler, limit = 16): ReadonlyMap<string, readonly string[]> {
  const { graph } = s;
  const tasks = taskCount(graph);
  const found: (readonly string[] | undefined)[] = [];
  const open: number[] = [];
  const explain = (target: number): readonly string[] => {
    open.push(target);
    while (open.length > 0) {
      const v = open[open.length - 1]!;
      const before = needsBefore(v) ? s.predecessors[v]!.filter((p) => (s.bits[p]! & failedBit) !== 0) : [];
      const unknown = before.filter((p) => found[p] === undefined);
      if (unknown.length > 0) {
        open.push(...unknown);
        continue;
      }
      open.pop();
      const all = new Set<string>();
      for (const p of before) for (const cause of found[p]!) if (all.size < limit) all.add(cause);
      if (all.size === 0) all.add(s.causes[s.cause[v]!]!);
      found[v] = [...all];
    }
    return found[target]!;
  };
  /** Failed tasks and external ones are causes themselves. Sync points and tasks of lost nodes have their node's cause. */
  const needsBefore = (v: number): boolean => {
    if (v >= tasks) return v < tasks + graph.joins;
    return s.status[v] === code.blocked && graph.sync[graph.nodeOf[v]!] === 0 && s.offline[graph.nodeOf[v]!] === 0;
  };
  const causes = new Map<string, readonly string[]>();
  for (let task = 0; task < tasks; task++) {
    if (isFailed(s.status[task]!) && s.status[task] !== code.failed)
      causes.set(keyOf(graph, task), inPlanOrder(s, explain(task)));
  }
  return causes;
}

/** Offline nodes and tasks of other parts first, then tasks as planned. */
function inPlanOrder(s: Scheduler, causes: readonly string[]): string[] {
  const place = (cause: string): number => s.taskIndex.get(cause) ?? -1;
  return [...causes].sort((a, b) => place(a) - place(b) || compareText(a, b));
}

import { NO_TASKS } from '../graph-run/task-counts.ts';
import { causeText, type RootCause, type TaskOnNode } from '../task-on-node.ts';
import { compareText } from '../text/text.ts';
import { pairOf, taskCount } from './graph.ts';
import { failedBit } from './part-messages.ts';
import { hasFailedRollout, isUnjudged, isUnwell } from './rollouts.ts';
import type { Scheduler } from './state.ts';
import { isStopping, taskAt } from './state.ts';
import type { NodeStatus, TaskStatus } from './status.ts';
import { code, isFailed, isFinal, statusOf } from './status.ts';
import { endOfGraph, type GraphEnd } from './tolerance.ts';

/** How a finished run ended. */
export const endOf = (s: Scheduler): GraphEnd =>
  s.tolerance.verdict === 'none' && hasFailedRollout(s)
    ? { result: 'failed', why: 'rollout' }
    : endOfGraph(
        s.tolerance,
        s.stopped && (s.status.includes(code.notReached) || isUnjudged(s)) ? 'stopped' : 'success',
      );

interface TaskReport extends TaskOnNode {
  readonly status: TaskStatus;
  readonly attempts: number;
  /** Of a blocked task: the first cause found. `rootCauses` returns all. */
  readonly cause?: RootCause;
}

/** The state of every task, in plan order. Linear in the size of the run: for queries and reports, not for each event. */
export function taskReports(s: Scheduler): TaskReport[] {
  return s.graph.nameOf.map((_, task) => {
    const c = s.status[task]!;
    return {
      ...pairOf(s.graph, task),
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
  taskReports(s).map((report, at) => {
    const { task, node } = report;
    return s.graph.noWork[at] === 1 ? { task, node, status: 'skipped', attempts: 0 } : report;
  });

/** The final status of a node, derived from its tasks; `undefined` while it has tasks to run. */
export function nodeStatus(s: Scheduler, node: number): NodeStatus | undefined {
  if (s.lostOn[node]! > 0) return 'failed';
  let undone = false;
  for (const task of s.tasksOfNode[node]!) {
    const c = s.status[task]!;
    if (!isFinal(c)) return undefined;
    undone ||= c === code.notReached;
  }
  if (isUnwell(s, node)) return 'failed';
  return undone ? 'not_reached' : 'success';
}

interface Progress {
  readonly tasks: Readonly<Record<TaskStatus, number>>;
  readonly running: readonly TaskOnNode[];
  readonly failed: readonly TaskOnNode[];
  readonly stopping: boolean;
  readonly paused: boolean;
}

/** Counts for a status line. Linear in the size of the run. */
export function progress(s: Scheduler): Progress {
  const tasks: Record<TaskStatus, number> = { ...NO_TASKS };
  const running: TaskOnNode[] = [];
  const failed: TaskOnNode[] = [];
  for (let task = 0; task < taskCount(s.graph); task++) {
    const c = s.status[task]!;
    tasks[statusOf(c)]++;
    if (c === code.running || c === code.retrying) running.push(pairOf(s.graph, task));
    if (c === code.failed) failed.push(pairOf(s.graph, task));
  }
  return { tasks, running, failed, stopping: isStopping(s), paused: s.paused };
}

/**
 * By number of a blocked task, the failed tasks or offline nodes that explain it, at most `limit` each: the ones before
 * it, or the one that failed its node. Walks each edge once.
 */
export function rootCauses(s: Scheduler, limit = 16): ReadonlyMap<number, readonly RootCause[]> {
  const { graph } = s;
  const tasks = taskCount(graph);
  /** By vertex: numbers of causes. */
  const found: (readonly number[] | undefined)[] = [];
  const open: number[] = [];
  const explain = (target: number): readonly number[] => {
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
      const all = new Set<number>();
      for (const p of before) for (const cause of found[p]!) if (all.size < limit) all.add(cause);
      if (all.size === 0) all.add(s.cause[v]!);
      found[v] = [...all];
    }
    return found[target]!;
  };
  /** Failed tasks and external ones are causes themselves. Sync points and tasks of lost nodes have their node's cause. */
  const needsBefore = (v: number): boolean => {
    if (v >= tasks) return v < tasks + graph.joins;
    return s.status[v] === code.blocked && graph.sync[graph.nodeOf[v]!] === 0 && s.offline[graph.nodeOf[v]!] === 0;
  };
  const causes = new Map<number, readonly RootCause[]>();
  for (let task = 0; task < tasks; task++) {
    if (isFailed(s.status[task]!) && s.status[task] !== code.failed) causes.set(task, inPlanOrder(s, explain(task)));
  }
  return causes;
}

/** Offline nodes and tasks of other parts first, then tasks as planned. */
function inPlanOrder(s: Scheduler, causes: readonly number[]): RootCause[] {
  const placed = causes.map((at) => {
    const cause = s.causes[at]!;
    return { cause, place: cause.task === null ? -1 : (taskAt(s, cause.task, cause.node) ?? -1) };
  });
  return placed
    .sort((a, b) => a.place - b.place || compareText(causeText(a.cause), causeText(b.cause)))
    .map(({ cause }) => cause);
}

import { taskKey } from '../task-on-node.ts';
import type { TaskStatus } from '../words.ts';
import type { SchedulerPlan } from './plan.ts';

/** How a task of an earlier run ended, from `taskReports` or its history row. */
export interface EarlierTask {
  readonly status: TaskStatus;
}

/**
 * The plan that continues an earlier run: tasks that failed, were lost, were left undone or are new, and everything
 * after them. All other tasks are done and pass without work, in order. Ignored errors and operators' skips count as
 * done, because the earlier run continued after them.
 */
export function continueFrom(plan: SchedulerPlan, earlier: Readonly<Record<string, EarlierTask>>): SchedulerPlan {
  const after = new Map<string, string[]>();
  for (const [from, to] of plan.edges) {
    const list = after.get(from);
    if (list === undefined) after.set(from, [to]);
    else list.push(to);
  }
  const joinsOf = new Map<string, number[]>();
  const joins = plan.joins ?? [];
  joins.forEach((join, j) => {
    for (const key of join.before) joinsOf.set(key, [...(joinsOf.get(key) ?? []), j]);
  });
  const again = new Set<string>();
  const open: string[] = [];
  const add = (key: string): void => {
    if (again.has(key)) return;
    again.add(key);
    open.push(key);
  };
  for (const task of plan.tasks) {
    const key = taskKey(task.id, task.node);
    if (!Object.hasOwn(earlier, key) || !isDone(earlier[key]!)) add(key);
  }
  const opened = new Set<number>();
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const to of after.get(key) ?? []) add(to);
    for (const j of joinsOf.get(key) ?? []) {
      if (opened.has(j)) continue;
      opened.add(j);
      for (const to of joins[j]!.after) add(to);
    }
  }
  const before = plan.only === undefined ? undefined : new Set(plan.only);
  return { ...plan, only: [...again].filter((key) => before === undefined || before.has(key)).sort() };
}

const isDone = ({ status }: EarlierTask): boolean =>
  status === 'success' || status === 'ignored' || status === 'skipped';

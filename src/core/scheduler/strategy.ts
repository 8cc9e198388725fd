import { taskKey } from '../task-on-node.ts';
import type { SchedulerPlan, TaskStrategy } from './plan.ts';

/**
 * Limit of running tasks by name, 0 = no limit, and the tasks whose amount is negative. Reads tasks node by node like the
 * reference: the last one of a name decides, even without a strategy. `limits.per_task` equals the same strategy on each
 * task of the name.
 */
export function limitsByName(
  plan: SchedulerPlan,
  names: ReadonlyMap<string, number>,
  tasksOfNode: readonly (readonly number[])[],
): { readonly limits: number[]; readonly bad: string[] } {
  const limits = new Array<number>(names.size).fill(0);
  const bad: string[] = [];
  const perTask = plan.limits?.per_task ?? {};
  for (const tasks of tasksOfNode) {
    for (const at of tasks) {
      const task = plan.tasks[at]!;
      const amount = Object.hasOwn(perTask, task.id) ? perTask[task.id]! : amountOf(task.strategy);
      if (amount < 0) bad.push(taskKey(task.id, task.node));
      limits[names.get(task.id)!] = Math.max(0, Math.trunc(amount));
    }
  }
  return { limits, bad };
}

/** The limit of one strategy, 0 = no limit. Callers refuse negative limits. */
export function amountOf(strategy: TaskStrategy | null | undefined): number {
  if (strategy?.type === 'one_by_one') return 1;
  if (strategy?.type !== 'parallel') return 0;
  const { amount } = strategy;
  if (typeof amount === 'number') return Number.isFinite(amount) ? Math.trunc(amount) : 0;
  // The reference reads the leading digits of a text.
  if (typeof amount === 'string') return Number(/^\s*([+-]?\d+)/.exec(amount)?.[1] ?? 0);
  return 0;
}

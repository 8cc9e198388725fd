import type { SchedulerPlan, TaskStrategy } from './plan.js';
import { taskKey } from './plan.js';

/**
 * Most tasks of each name at once, 0 = no limit, and the tasks whose amount is negative.
 * Tasks are read node by node, as the reference does, and the last one of a name decides, also when it
 * has no strategy at all. `limits.per_task` stands for the same strategy on each task of the name.
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

/** Most tasks at once by one strategy, 0 = no limit; negative ones are refused. */
export function amountOf(strategy: TaskStrategy | null | undefined): number {
  if (strategy?.type === 'one_by_one') return 1;
  if (strategy?.type !== 'parallel') return 0;
  const { amount } = strategy;
  if (typeof amount === 'number') return Number.isFinite(amount) ? Math.trunc(amount) : 0;
  // Text counts by its leading digits, as the reference reads it.
  if (typeof amount === 'string') return Number(/^\s*([+-]?\d+)/.exec(amount)?.[1] ?? 0);
  return 0;
}

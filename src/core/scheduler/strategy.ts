import type { SchedulerPlan } from './plan.ts';

/**
 * Limit of running tasks by name, 0 = no limit, and the tasks whose amount is negative. Reads tasks node by node like the
 * reference: the last one of a name decides, even without a strategy. `limits.per_task` equals the same strategy on each
 * task of the name.
 */
export function limitsByName(
  { nodes, tasks, limits: given }: SchedulerPlan,
  names: ReadonlyMap<string, number>,
): { readonly limits: number[]; readonly bad: number[] } {
  const limits = new Array<number>(names.size).fill(0);
  const bad: number[] = [];
  const perTask = given?.per_task ?? {};
  const tasksOfNode: number[][] = nodes.map(() => []);
  for (const [task, { node }] of tasks.entries()) tasksOfNode[node]!.push(task);
  for (const task of tasksOfNode.flat()) {
    const { id, strategy } = tasks[task]!;
    const amount = Object.hasOwn(perTask, id) ? perTask[id]! : amountOf(strategy);
    if (amount < 0) bad.push(task);
    limits[names.get(id)!] = Math.max(0, Math.trunc(amount));
  }
  return { limits, bad };
}

/** The limit of one strategy, 0 = no limit. Callers refuse negative limits. */
export function amountOf(strategy: SchedulerPlan['tasks'][number]['strategy']): number {
  if (strategy?.type === 'one_by_one') return 1;
  if (strategy?.type !== 'parallel') return 0;
  const { amount } = strategy;
  if (typeof amount === 'number') return Number.isFinite(amount) ? Math.trunc(amount) : 0;
  // The reference reads the leading digits of a text.
  if (typeof amount === 'string') return Number(/^\s*([+-]?\d+)/.exec(amount)?.[1] ?? 0);
  return 0;
}

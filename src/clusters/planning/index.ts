import { loadTaskEngine } from './load-engine.ts';
import { openPlanningThread } from './planning-thread.ts';
import type { OpenPlanner, PlanningWork } from './planning-work.ts';

/**
 * Plans graphs without blocking the process: for runs to store, and for people and programs to see.
 *
 * ```ts
 * const planner = await openPlanner(settings.yaql.helpers);
 * const planned = await planner.plan('explanation', { sources, layers, request, states, surroundings: { masterIp } }, signal);
 * if (!planned.ok) refuse(planned.problems);
 * show(planned.value);
 * ```
 */
export { loadTaskEngine } from './load-engine.ts';
export { plannerHere } from './plan-here.ts';
export type { PlanForm, PlanForms, Planner, PlanningWork } from './planning-work.ts';
export { type PreparedPiece, type PreparedRun, planReferenceOf, type StoredReference } from './prepared-run.ts';

/** Tasks times nodes of a plan that takes about a second: the recorded library on 100 nodes. */
const MAX_IN_TURN = 20_000;

/**
 * The planner of a process. Plans are made in a thread, small ones too: an expression of a user may take as long as its
 * budget lets it, and memory up to its quota. Large ones have a thread of their own, so that no small one waits for them.
 * @param helpers path of the module in the setting `yaql.helpers`
 * @throws any error of loading that module
 */
export async function openPlanner(helpers?: string): Promise<OpenPlanner> {
  // Only to see now, and not with the first plan, that it can be loaded.
  await loadTaskEngine(helpers);
  const [small, large] = [openPlanningThread(helpers), openPlanningThread(helpers)];
  return {
    plan: (form, work, signal, receive) => (isLarge(work) ? large : small).plan(form, work, signal, receive),
    close: async () => void (await Promise.all([small.close(), large.close()])),
  };
}

function isLarge({ sources, layers }: PlanningWork): boolean {
  const tasks = layers.reduce((sum, layer) => sum + layer.tasks.length, 0);
  return tasks * sources.nodes.length > MAX_IN_TURN;
}

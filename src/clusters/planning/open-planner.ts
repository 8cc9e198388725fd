import { loadTaskEngine } from './load-engine.js';
import { planHere } from './plan-here.js';
import { openPlanningThread } from './planning-thread.js';
import type { Planner, PlanningWork } from './planning-work.js';

/** Maximum number of (task, node) pairs to plan without a thread, which takes some tens of milliseconds. */
const FEW = 300;

export interface OpenPlanner extends Planner {
  close(): Promise<void>;
}

/**
 * The planner of a process: makes small plans at once, and all others in a thread.
 * @param helpers path of the module in the setting `yaql.helpers`
 * @throws any error of loading that module
 */
export async function openPlanner(helpers?: string): Promise<OpenPlanner> {
  const engine = await loadTaskEngine(helpers);
  const thread = openPlanningThread(helpers);
  return {
    async plan(form, work, signal) {
      signal?.throwIfAborted();
      return isSmall(work) ? planHere(form, work, engine) : await thread.plan(form, work, signal);
    },
    close: () => thread.close(),
  };
}

/** Assumes the worst case: every task on every node. */
function isSmall({ sources, layers }: PlanningWork): boolean {
  const tasks = layers.reduce((count, layer) => count + layer.tasks.length, 0);
  return tasks * (sources.nodes.length + 2) < FEW;
}

import { loadTaskEngine } from './load-engine.js';
import { planHere } from './plan-here.js';
import { openPlanningThread } from './planning-thread.js';
import type { Planner, PlanningWork } from './planning-work.js';

/** Tasks on nodes, at most, that are planned at once, in some tens of milliseconds, without a thread. */
const FEW = 300;

export interface OpenPlanner extends Planner {
  close(): Promise<void>;
}

/**
 * The planner of a process: small plans are made at once, all others in one thread beside.
 * @param helpers path of the module that `yaql.helpers` names
 * @throws what loading that module throws
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

/** As if every task were on every node, which it is at most. */
function isSmall({ sources, layers }: PlanningWork): boolean {
  const tasks = layers.reduce((count, layer) => count + layer.tasks.length, 0);
  return tasks * (sources.nodes.length + 2) < FEW;
}

import { loadTaskEngine } from './load-engine.js';
import { openPlanningThread } from './planning-thread.js';
import type { Planner } from './planning-work.js';

export interface OpenPlanner extends Planner {
  close(): Promise<void>;
}

/**
 * The planner of a process. Plans are made in a thread, small ones too: an expression of a user may take as long as its
 * budget lets it, and memory up to its quota.
 * @param helpers path of the module in the setting `yaql.helpers`
 * @throws any error of loading that module
 */
export async function openPlanner(helpers?: string): Promise<OpenPlanner> {
  // Only to see now, and not with the first plan, that it can be loaded.
  await loadTaskEngine(helpers);
  return openPlanningThread(helpers);
}

import type { SchedulerGraph } from '../scheduler/index.js';

/**
 * Most tasks with work in one workflow. A task that ends alone takes six events, its history rows up to a quarter
 * more, so that this many stay under 10,000 events however slowly they come (design §5).
 */
export const TASKS_IN_ONE_WORKFLOW = 1_250;

/**
 * By node the part that drives it, for `partition`: whole nodes in plan order, in parts of about equal work. All 0
 * when one workflow does.
 */
export function cutForExecution(graph: SchedulerGraph, most: number = TASKS_IN_ONE_WORKFLOW): number[] {
  const work = graph.nodes.map(() => 0);
  graph.nodeOf.forEach((node, task) => {
    if (graph.noWork[task] !== 1) work[node]!++;
  });
  const total = work.reduce((sum, tasks) => sum + tasks, 0);
  const parts = Math.max(1, Math.ceil(total / most));
  const share = total / parts;
  let part = 0;
  let before = 0;
  let inPart = 0;
  return work.map((tasks) => {
    const full = tasks > 0 && inPart > 0 && (before + tasks / 2 > share * (part + 1) || inPart + tasks > most);
    if (full) {
      part++;
      inPart = 0;
    }
    before += tasks;
    inPart += tasks;
    return part;
  });
}

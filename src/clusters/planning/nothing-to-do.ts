import type { NothingToDo } from '../../core/contracts/graph-run.ts';
import type { SkipReason } from '../../graph/index.ts';
import type { ClusterPlan } from '../plan-cluster.ts';

const SKIPPED: Readonly<Record<SkipReason, string>> = {
  type: 'task skipped: its type is skipped, or it is a stage',
  not_selected: 'task skipped: not among the selected tasks',
  condition: 'task skipped: its condition is false',
};

/** Why no task of a plan has work, counted; undefined if one has. */
export function nothingToDo({ plan, graph, leftOut }: ClusterPlan): NothingToDo | undefined {
  if (graph?.nodeOf.some((_, task) => graph.noWork[task] !== 1)) return undefined;
  const reasons = [
    ...leftOut.map(({ reason }) => `node left out: ${reason}`),
    ...plan.instances.map(({ skip }) =>
      skip === undefined ? 'task skipped: not in the chosen part of the graph, or done before' : SKIPPED[skip],
    ),
    ...plan.tasks.flatMap(({ unplaced }) => (unplaced === undefined ? [] : [`task on no node: ${unplaced}`])),
  ];
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => ({ reason: reason.slice(0, 300), count })).slice(0, 20);
}

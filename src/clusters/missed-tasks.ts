import { counted } from '../core/text/text.ts';
import type { Plan, Problems } from '../graph/index.ts';

const TASKS = 10;
const NODES = 5;

/**
 * Warns of tasks that have changed since they succeeded on a node and do not run there, only because their conditions compare with that
 * success. Without a change of the data they would never run in the new version.
 */
export function warnOfMissed(plan: Plan, cluster: number, type: string, problems: Problems): void {
  const missed = new Map<number, string[]>();
  for (const { task, node, skip, hasChanged } of plan.instances)
    if (hasChanged && skip === 'condition') missed.set(task, [...(missed.get(task) ?? []), plan.nodes[node]!]);
  if (missed.size === 0) return;
  const names = [...missed].map(
    ([task, uids]) => `${plan.tasks[task]!.merged.task.id} (${problems.nodesText(uids, NODES)})`,
  );
  const more = names.length > TASKS ? ` and ${names.length - TASKS} more` : '';
  const [has, their] =
    missed.size === 1 ? ['has', 'it ran, but its condition is'] : ['have', 'they ran, but their conditions are'];
  problems.warning(
    ['tasks'],
    'graph.missed-tasks',
    `${counted(missed.size, 'task')} ${has} changed since ${their} false: ${names.slice(0, TASKS).join(', ')}${more}; a run with --missed carries out just these`,
    `sitewright graph execute --cluster ${cluster} --type ${type} --missed`,
  );
}

import type { Plan, Problems } from '../graph/index.ts';

const SHOWN = 10;

/**
 * Warns of primary nodes on which a run does nothing, though it has tasks for others with the same tag: such tasks ask for `TAG`, and the
 * node has it as `primary-TAG`; or their conditions are false just there.
 */
export function warnOfIdlePrimaries(plan: Plan, problems: Problems): void {
  const worked = new Set(plan.instances.flatMap(({ node, skip }) => (skip === undefined ? [plan.nodes[node]!] : [])));
  const left = new Map<string, { readonly tag: string; readonly tasks: string[] }>();
  for (const { merged, skippedPrimaries } of plan.tasks)
    for (const { node, tag } of skippedPrimaries) {
      if (worked.has(node)) continue;
      const one = left.get(node) ?? { tag, tasks: [] };
      one.tasks.push(merged.task.id);
      left.set(node, one);
    }
  for (const [node, { tag, tasks }] of left) {
    const more = tasks.length > SHOWN ? ` and ${tasks.length - SHOWN} more` : '';
    problems.warning(
      ['tasks'],
      'graph.idle-primary',
      `no task runs on ${problems.nodesText([node], 1)}, which has ${tag}: ${tasks.slice(0, SHOWN).join(', ')}${more} leave it out`,
      `Give tasks that it needs the tag ${tag}, too.`,
    );
  }
}

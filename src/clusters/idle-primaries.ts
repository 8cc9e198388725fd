import { someOf } from '../core/text/text.ts';
import type { Plan, Problems, TaggedNode } from '../graph/index.ts';

const SHOWN = 10;
const PRIMARY = 'primary-';

/**
 * Warns of primary nodes on which a run does nothing, though it does on others: tasks ask for `TAG`, and the node has it as `primary-TAG`;
 * or their conditions are false just there.
 */
export function warnOfIdlePrimaries(plan: Plan, nodes: readonly TaggedNode[], problems: Problems): void {
  const isWorked = new Set<string>();
  const runs = new Set<number>();
  for (const { node, task, skip } of plan.instances) {
    if (skip !== undefined) continue;
    isWorked.add(plan.nodes[node]!);
    runs.add(task);
  }
  for (const { uid, tags } of nodes) {
    const primary = tags.filter((tag) => tag.startsWith(PRIMARY));
    if (primary.length === 0 || isWorked.has(uid)) continue;
    const left = plan.tasks.flatMap(({ merged, skippedPrimaries }, task) => {
      const tag = skippedPrimaries.find(({ node }) => node === uid)?.tag;
      return tag === undefined || !runs.has(task) ? [] : [{ task: merged.task.id, tag }];
    });
    const held = plan.instances.flatMap(({ id, node, task, skip }) =>
      plan.nodes[node] === uid && skip === 'condition' && runs.has(task) ? id : [],
    );
    const reasons = [
      ...(left.length === 0
        ? []
        : [
            `tasks that leave it out: ${someOf(
              left.map(({ task }) => task),
              SHOWN,
            )}`,
          ]),
      ...(held.length === 0 ? [] : [`conditions are false there: ${someOf(held, SHOWN)}`]),
    ];
    if (reasons.length === 0) continue;
    problems.warning(
      ['tasks'],
      'graph.idle-primary',
      `no task runs on ${problems.nodesText([uid])}, which has ${someOf(primary, 3)}: ${reasons.join('; ')}`,
      left.length === 0
        ? 'If it needs them, correct the conditions.'
        : `Give tasks that it needs the tag ${[...new Set(left.map(({ tag }) => tag))].join(' or ')}, too.`,
    );
  }
}

import type { Strategy } from '../core/contracts/index.ts';
import { stableOrder, successesNeeded } from '../core/deployment/index.ts';
import { failuresAllowed, waveSizes } from '../core/rollout/waves.ts';
import { counted } from '../core/text/text.ts';
import type { ResolvedSite } from '../documents/index.ts';

/** The groups of a site, with warnings about oddities: a node in several groups or in none, an empty group. */
export function viewStrategy({
  strategyName,
  groups: plans,
  nodes,
}: Pick<ResolvedSite, 'strategyName' | 'groups' | 'nodes'>): Strategy {
  const groups = plans.map((plan) => ({
    name: plan.name,
    critical: plan.critical,
    depends_on: plan.depends_on,
    nodes: plan.nodes.map((index) => nodes[index]!.name),
    success_criteria: { ...plan.success_criteria },
    successes_needed: successesNeeded(plan.success_criteria, plan.nodes.length),
    ...(plan.rollout && {
      waves: waveSizes(plan.rollout, plan.nodes.length),
      soak: plan.rollout.soak,
      stop_at: failuresAllowed(plan.rollout.stop_at, plan.nodes.length),
    }),
  }));
  const warnings: string[] = [];
  for (const group of groups) {
    if (group.nodes.length === 0) warnings.push(`group ${group.name} has no nodes`);
    if (group.successes_needed === null)
      warnings.push(`group ${group.name} can never meet its criteria with ${counted(group.nodes.length, 'node')}`);
  }
  for (const node of nodes) {
    const of = groups.filter((group) => group.nodes.includes(node.name)).map((group) => group.name);
    if (of.length === 0) warnings.push(`node ${node.name} is in no group: it will not be deployed`);
    if (of.length > 1)
      warnings.push(
        `node ${node.name} is in ${counted(of.length, 'group')} (${of.join(', ')}): the first group to reach it deploys it`,
      );
  }
  return { name: strategyName, order: stableOrder(plans), groups, warnings };
}

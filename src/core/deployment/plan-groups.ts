import { rolloutOrder } from '../rollout/order.ts';
import { policyOf } from '../rollout/policy.ts';
import type { GroupPlan } from './group-plan.ts';
import { selectNodes } from './selectors.ts';
import type { DeploymentStrategy, Group, SiteNode } from './strategy.ts';

/** Resolves every group's selectors once (docs/explain/design.md#spec-5, "Process" 1). */
export function planGroups(strategy: DeploymentStrategy, nodes: readonly SiteNode[]): GroupPlan[] {
  return strategy.groups.map((group) => ({
    name: group.name,
    critical: group.critical,
    depends_on: group.depends_on,
    ...membersOf(group, nodes),
    ...(group.success_criteria ? { success_criteria: group.success_criteria } : {}),
  }));
}

function membersOf({ selectors, rollout }: Group, all: readonly SiteNode[]): Pick<GroupPlan, 'nodes' | 'rollout'> {
  const nodes = selectNodes(selectors, all);
  if (rollout === undefined) return { nodes };
  const members = nodes.map((index) => all[index]!);
  const order = rolloutOrder(members, rollout.order ?? []).map((at) => nodes[at]!);
  return { nodes, rollout: { ...policyOf(rollout), order } };
}

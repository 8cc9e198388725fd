import type { GroupPlan } from '../../src/core/deployment/group-plan.ts';
import { type MaintenanceNote, maintenanceText } from '../../src/core/maintenance.ts';
import type { RunFailure } from '../../src/core/site-run/failure.ts';
import { counted } from '../../src/core/text/text.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';

/** Why a run that names its nodes cannot have them; null when it can. */
export function targetsInMaintenance(
  targets: readonly string[],
  kept: ReadonlyMap<string, MaintenanceNote>,
): RunFailure | null {
  const nodes = targets.flatMap((node) => {
    const note = kept.get(node);
    return note === undefined ? [] : [{ node, why: maintenanceText(note) }];
  });
  return nodes.length === 0 ? null : { kind: 'nodes-in-maintenance', nodes };
}

/** The groups without some of their nodes, whose numbers move up. */
export function withoutNodes(
  groups: readonly GroupPlan[],
  nodes: readonly ResolvedNode[],
  isLeftOut: (node: ResolvedNode) => boolean,
): readonly GroupPlan[] {
  let next = 0;
  const moved = nodes.map((node) => (isLeftOut(node) ? -1 : next++));
  if (next === nodes.length) return groups;
  const left = (all: readonly number[]) => all.map((at) => moved[at]!).filter((at) => at >= 0);
  return groups.map(({ rollout, ...group }) => ({
    ...group,
    nodes: left(group.nodes),
    ...(rollout && { rollout: { ...rollout, order: left(rollout.order) } }),
  }));
}

const SHOWN = 10;

/** Which nodes a run leaves out, and why. */
export function maintenanceWarnings(nodes: readonly (MaintenanceNote & { readonly node: string })[]): string[] {
  const more = nodes.length - SHOWN;
  return [
    ...nodes.slice(0, SHOWN).map((one) => `${one.node} is left out: ${maintenanceText(one)}`),
    ...(more > 0 ? [`${counted(more, 'more node')} in maintenance ${more === 1 ? 'is' : 'are'} left out`] : []),
  ];
}

/** Percentages and failures count the nodes that take part; a minimum says how many nodes the site needs, and stays. */
export function minimumWarnings(before: readonly GroupPlan[], groups: readonly GroupPlan[]): string[] {
  return groups.flatMap(({ name, nodes, success_criteria }, at) => {
    const minimum = success_criteria?.minimum_successful_nodes ?? 0;
    const left = (before[at]?.nodes.length ?? 0) - nodes.length;
    if (left <= 0 || nodes.length >= minimum) return [];
    return [
      `group ${name} will fail: it needs ${counted(minimum, 'successful node')}, and without ${left} in maintenance it has ${nodes.length}`,
    ];
  });
}

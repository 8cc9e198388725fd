import type { NodeExplanation, PlanExplanation } from '../contracts/fuel/plan-explanation.ts';
import { together } from '../data/together.ts';
import { someOf } from '../text/text.ts';

/** Nodes on which the same tasks run and are skipped for the same reasons, together, in the order of the plan. */
export const alikeNodes = (nodes: readonly NodeExplanation[]): readonly (readonly NodeExplanation[])[] => [
  ...together(nodes, ({ runs, skipped }) => JSON.stringify([runs, skipped])).values(),
];

/** What a plan says besides what runs where: a heading, and what each line is about with its reason. */
type PlanSection = readonly [heading: string, rows: readonly (readonly [what: string, why: string])[]];

/** More names tell nobody more. */
export const MOST_NAMES = 20;

/** Those with any line. @param nameOf of a node, by its id */
export function planSections(
  plan: PlanExplanation,
  nameOf: (node: string) => string = (node) => node,
): readonly PlanSection[] {
  const named = (nodes: readonly string[]): string => someOf(nodes.map(nameOf), MOST_NAMES);
  // One line for all tasks that skip a node for the same tag.
  const primaries = together(plan.skipped_primaries, ({ node, tag }) => `node ${nameOf(node)} has it as ${tag}`);
  const sections: readonly PlanSection[] = [
    ['on no node', plan.not_placed.map(({ task, reason }) => [task, reason])],
    ['not on the primary node', [...primaries].map(([has, own]) => [own.map(({ task }) => task).join(', '), has])],
    [
      'dependencies without effect',
      plan.dropped_dependencies.map(({ task, field, name, reason }) => [`${task} ${field} ${name}`, reason]),
    ],
    [
      'nodes that may fail',
      plan.fault_tolerance.map(({ name, node_ids, fault_tolerance }) => {
        const may = fault_tolerance > node_ids.length ? 'any number' : String(fault_tolerance);
        return [name, `${may} of ${node_ids.length} (${named(node_ids)})`];
      }),
    ],
    [
      'waves',
      (plan.rollouts ?? []).flatMap(({ role, waves }) =>
        waves.map((nodes, at) => [`${role}, wave ${at + 1} of ${waves.length}`, named(nodes)] as const),
      ),
    ],
    [
      'chosen by policy any',
      plan.any_choices.map(({ roles, candidates, chosen }) => [
        JSON.stringify(roles),
        `${named(chosen)} of ${named(candidates)}`,
      ]),
    ],
  ];
  return sections.filter(([, rows]) => rows.length > 0);
}

import type { GroupWire, ShownPlan, SitePlan } from '../contracts/site-run.ts';
import type { GroupPlan } from '../deployment/group-plan.ts';
import { utf8Length } from '../text/text.ts';

/** Indexes in their order as `[first, last, first, last, …]`: a thousand neighbours take two numbers. */
export type IndexRanges = readonly number[];

export function toRanges(indexes: readonly number[]): number[] {
  const ranges: number[] = [];
  for (const index of indexes) {
    if (ranges.length > 0 && ranges[ranges.length - 1] === index - 1) ranges[ranges.length - 1] = index;
    else ranges.push(index, index);
  }
  return ranges;
}

export function fromRanges(ranges: IndexRanges): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    for (let index = ranges[i]!; index <= ranges[i + 1]!; index += 1) indexes.push(index);
  }
  return indexes;
}

export const groupToWire = ({ rollout, ...group }: GroupPlan): GroupWire => ({
  ...group,
  nodes: toRanges(group.nodes),
  ...(rollout && { rollout: { ...rollout, order: toRanges(rollout.order) } }),
});
export const groupFromWire = ({ rollout, ...group }: GroupWire): GroupPlan => ({
  ...group,
  nodes: fromRanges(group.nodes),
  ...(rollout && { rollout: { ...rollout, order: fromRanges(rollout.order) } }),
});

/** A payload is limited to 200 KB (docs/explain/design.md#limits). */
const LIMIT_BYTES = 100_000;

/** The plan as users read it: with the names of each group's nodes, as many as fit into `limit` bytes. */
export function showPlan(plan: SitePlan, limit: number = LIMIT_BYTES): ShownPlan {
  const named = (ranges: IndexRanges): string[] => fromRanges(ranges).map((index) => plan.nodes[index]!);
  const groups = plan.groups.map((group) => {
    const nodes = named(group.nodes);
    return { ...group, nodes, total: nodes.length };
  });
  const whole: ShownPlan = { ...plan, total: plan.nodes.length, done: named(plan.done), groups };
  let shown = whole;
  for (
    let most = plan.nodes.length;
    utf8Length(JSON.stringify(shown)) > limit && most > 0;
    most = Math.floor(most / 2)
  ) {
    const first = (names: readonly string[]): string[] => names.slice(0, most);
    shown = {
      ...whole,
      ...{ nodes: first(whole.nodes), done: first(whole.done), removed: first(whole.removed) },
      groups: whole.groups.map((group) => ({ ...group, nodes: first(group.nodes) })),
    };
  }
  return shown;
}

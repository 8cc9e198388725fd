import type { GroupWire } from '../contracts/site-run.js';
import type { GroupPlan } from '../deployment/index.js';

/** Ascending indexes as `[first, last, first, last, …]`: a thousand neighbours take two numbers. */
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

export const groupToWire = (group: GroupPlan): GroupWire => ({ ...group, nodes: toRanges(group.nodes) });
export const groupFromWire = (group: GroupWire): GroupPlan => ({ ...group, nodes: fromRanges(group.nodes) });

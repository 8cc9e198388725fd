import type { GroupPlan, SuccessCriteria } from '../deployment/index.js';

/** Ascending indexes as `[first, last, first, last, …]`: a thousand neighbours travel as two numbers. */
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

export interface GroupWire {
  readonly name: string;
  readonly critical: boolean;
  readonly depends_on: readonly string[];
  readonly nodes: IndexRanges;
  readonly success_criteria?: SuccessCriteria;
}

export const groupToWire = (group: GroupPlan): GroupWire => ({ ...group, nodes: toRanges(group.nodes) });
export const groupFromWire = (group: GroupWire): GroupPlan => ({ ...group, nodes: fromRanges(group.nodes) });

/** How long one kind of call may take and how often it looks; seconds, from the site's DeploymentConfiguration. */
export interface Pace {
  readonly interval: number;
  readonly timeout: number;
}

export interface SitePace {
  readonly verify_site: Pace;
  readonly prepare_site: Pace;
  readonly prepare: Pace;
  readonly deploy: Pace;
  readonly release: Pace;
  /** Nodes of a group that are worked on at once. */
  readonly max_parallel_nodes: number;
  /** After this long without a sign of life a worker counts as dead and its calls move on. */
  readonly heartbeat_seconds: number;
}

/** What a site's workflow is given: names and numbers; the nodes' documents stay in the store. */
export interface SitePlan {
  readonly site: string;
  readonly revision: number;
  readonly hash: string;
  readonly nodes: readonly string[];
  readonly groups: readonly GroupWire[];
  readonly pace: SitePace;
  /** update_site: unchanged and deployed already; they count as successful and are not touched. */
  readonly done: IndexRanges;
  /** update_site: in the last good revision, but no longer in this one. */
  readonly removed: readonly string[];
  /** The cluster that is linked to the site: its graph `default` is executed once the nodes are deployed. */
  readonly cluster?: number;
  readonly warnings: readonly string[];
}

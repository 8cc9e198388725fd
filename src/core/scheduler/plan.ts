import type { GraphRunMode } from '../words.js';

/**
 * What a run is made of, as plain JSON. A task is identified by `name@node`; `id` is its name.
 * The order of `nodes` is the order in which free nodes are served; the order of `tasks` on a node
 * breaks ties between equal weights.
 */
export interface SchedulerPlan {
  readonly nodes: readonly PlanNode[];
  readonly tasks: readonly PlanTask[];
  /** `[from, to]` as `name@node`: from must end before to starts. Self-edges are dropped, doubles count once. */
  readonly edges: readonly (readonly [string, string])[];
  /** "All of `before` ahead of all of `after`": means every edge of the product, at the cost of the sum. */
  readonly joins?: readonly PlanJoin[];
  readonly limits?: PlanLimits;
  readonly fault_tolerance_groups?: readonly FaultToleranceGroup[];
  /** Union of parts to keep; the tasks outside end as `skipped`. Absent or empty: everything. */
  readonly subgraphs?: readonly Subgraph[];
  /**
   * Restricts the run to these tasks (`name@node`), as continuing from a failed run does (see
   * `continueFrom`). The others end as `skipped`, in order, without work.
   */
  readonly only?: readonly string[];
  /**
   * `dry_run`: everything is checked, nothing runs, success. `noop_run`: every task is driven in its
   * harmless variant, an error is never fatal, and failures do not fail the run. Default `apply`.
   */
  readonly mode?: GraphRunMode;
}

/** `sync` is a virtual node: a task on it starts as soon as everything before it is finished, however it ended. */
export interface PlanNode {
  readonly id: string;
  readonly kind: 'node' | 'sync';
}

export interface PlanTask {
  readonly id: string;
  readonly node: string;
  /** `noop`, `stage` and `skipped` hold no work; every other word is work. Default `task`. */
  readonly type?: string;
  /** false: an error is recorded as `ignored` and the dependents go on. Default true. */
  readonly fail_on_error?: boolean;
  /** Limit of its name over all nodes; when tasks of one name differ, the last one in order of nodes decides. */
  readonly strategy?: TaskStrategy | null;
  /** Further attempts after a failed one, `interval` milliseconds apart. Default none. */
  readonly retry?: { readonly count: number; readonly interval: number };
}

/** `one_by_one` is 1, `parallel` is its amount (0: no limit), every other type is no limit. */
export interface TaskStrategy {
  readonly type?: string;
  readonly amount?: unknown;
}

export interface PlanJoin {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface PlanLimits {
  /** Most nodes busy at once, sync points included; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /** Most running tasks by name; wins over strategies. 0: no limit. */
  readonly per_task?: Readonly<Record<string, number>>;
}

/** The run stops when more than `fault_tolerance` of the nodes failed; a node in a group of 0, or in no group, is critical. */
export interface FaultToleranceGroup {
  readonly name: string;
  readonly node_ids: readonly string[];
  readonly fault_tolerance: number;
}

/** Tasks at or after `start` and at or before `end`; an entry is `task` or `task/1,3-5`; an empty side is no bound. */
export interface Subgraph {
  readonly start?: readonly string[];
  readonly end?: readonly string[];
}

/** Why a run is refused before anything starts. A new reason is a new variant. */
export type Refusal =
  | { readonly reason: 'empty_graph' }
  | { readonly reason: 'offline_critical'; readonly nodes: readonly string[] }
  | { readonly reason: 'bad_strategy'; readonly tasks: readonly string[] }
  | { readonly reason: 'cycle'; readonly path: readonly string[] }
  | { readonly reason: 'bad_subgraph'; readonly entries: readonly string[] }
  | { readonly reason: 'bad_reference'; readonly problems: readonly string[] };

export const taskKey = (name: string, node: string): string => `${name}@${node}`;

import type { GraphRunMode } from '../words.ts';

/**
 * The tasks of a run, as plain JSON. `name@node` identifies a task; `id` is its name. Free nodes are served in the
 * order of `nodes`. The order of `tasks` on a node breaks ties between equal weights.
 */
export interface SchedulerPlan {
  readonly nodes: readonly PlanNode[];
  readonly tasks: readonly PlanTask[];
  /** `[from, to]` as `name@node`: `from` must end before `to` starts. Self-edges are dropped, duplicates count once. */
  readonly edges: readonly (readonly [string, string])[];
  /** All of `before` must end before any of `after` starts: all edges of the product, at the cost of the sum. */
  readonly joins?: readonly PlanJoin[];
  readonly limits?: PlanLimits;
  readonly fault_tolerance_groups?: readonly FaultToleranceGroup[];
  /** Union of the parts to keep. Tasks outside end as `skipped`. Absent or empty: everything. */
  readonly subgraphs?: readonly Subgraph[];
  /**
   * Restricts the run to these tasks (`name@node`), e.g. to continue a failed run (see `continueFrom`). The others end
   * as `skipped`, in order, without work.
   */
  readonly only?: readonly string[];
  /**
   * `dry_run`: checks everything, runs nothing and succeeds. `noop_run`: runs every task in noop mode; failures do not
   * fail the run. Default `apply`.
   */
  readonly mode?: GraphRunMode;
}

/** `sync` is a virtual node: a task on it starts as soon as everything before it is finished, however it ended. */
interface PlanNode {
  readonly id: string;
  readonly kind: 'node' | 'sync';
}

interface PlanTask {
  readonly id: string;
  readonly node: string;
  /** Types without work: see `hasWork`. Every other value is work. Default `task`. */
  readonly type?: string;
  /** false: an error is recorded as `ignored` and the dependents run. Default true. */
  readonly fail_on_error?: boolean;
  /** Limit of its name over all nodes. If tasks of one name differ, the last one in the order of nodes decides. */
  readonly strategy?: TaskStrategy | null;
  /** Further attempts after a failed one, `interval` milliseconds apart. Default none. */
  readonly retry?: { readonly count: number; readonly interval: number };
  /** Prepares its node for the tasks that wait for it: a subgraph that has one of those has this, too. */
  readonly prepares?: true;
}

/** `one_by_one` means 1, `parallel` means its amount (0: no limit), every other type means no limit. */
export interface TaskStrategy {
  readonly type?: string;
  readonly amount?: unknown;
}

interface PlanJoin {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface PlanLimits {
  /** Limit of busy nodes, including sync points; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /** Limit of running tasks by name; overrides strategies. 0: no limit. */
  readonly per_task?: Readonly<Record<string, number>>;
}

/** The run stops when more than `fault_tolerance` of the nodes failed; a node in a group of 0, or in no group, is critical. */
interface FaultToleranceGroup {
  readonly name: string;
  readonly node_ids: readonly string[];
  readonly fault_tolerance: number;
}

/** Tasks at or after `start` and at or before `end`. An entry is `task` or `task/1,3-5`. An empty side does not limit. */
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

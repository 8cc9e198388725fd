import type { RolloutPolicy } from '../rollout/policy.ts';
import type { GraphRunMode } from '../words.ts';
import type { SchedulerGraph } from './graph.ts';
import type { Links } from './links.ts';

/**
 * The tasks of a run for `compilePlan`. A task is its index in `tasks`, a node its index in `nodes`; names are for people.
 * Free nodes are served in the order of `nodes`. The order of `tasks` on a node breaks ties between equal weights.
 */
export interface SchedulerPlan extends Links {
  /** `sync` is a virtual node: a task on it starts as soon as everything before it is finished, however it ended. */
  readonly nodes: readonly { readonly id: string; readonly kind: 'node' | 'sync' }[];
  readonly tasks: readonly PlanTask[];
  readonly limits?: PlanLimits;
  /**
   * The run stops when more than `tolerance` of the nodes failed; a node in a group of 0, or in no group, is critical.
   */
  readonly groups: SchedulerGraph['groups'];
  /** Their nodes in the order in which the rollout reaches them. A node belongs to the first that names it. Absent: none. */
  readonly rollouts?: readonly {
    readonly name: string;
    readonly policy: RolloutPolicy;
    readonly order: readonly number[];
  }[];
  /** Union of the parts to keep. Tasks outside end as `skipped`. Absent or empty: everything. */
  readonly subgraphs?: readonly Subgraph[];
  /** By task: 0 = ends as `skipped`, in order, without work, e.g. to continue a failed run. Absent: all run. */
  readonly only?: ArrayLike<number>;
  /**
   * `dry_run`: checks everything, runs nothing and succeeds. `noop_run`: runs every task in noop mode; failures do not
   * fail the run. Default `apply`.
   */
  readonly mode?: GraphRunMode;
}

interface PlanTask {
  readonly id: string;
  readonly node: number;
  /** Types without work: see `hasWork`. Every other value is work. Default `task`. */
  readonly type?: string;
  /** false: an error is recorded as `ignored` and the dependents run. Default true. */
  readonly fail_on_error?: boolean;
  /**
   * Limit of its name over all nodes: `one_by_one` means 1, `parallel` means its amount (0: no limit), every other type means
   * no limit. If tasks of one name differ, the last one in the order of nodes decides.
   */
  readonly strategy?: { readonly type?: string; readonly amount?: unknown } | null;
  /** Further attempts after a failed one, `interval` milliseconds apart. Default none. */
  readonly retry?: { readonly count: number; readonly interval: number };
  /** Prepares its node for the tasks that wait for it: a subgraph that has one of those has this, too. */
  readonly prepares?: true;
}

export interface PlanLimits {
  /** Limit of busy nodes, including sync points; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /** Limit of running tasks by name; overrides strategies. 0: no limit. */
  readonly per_task?: Readonly<Record<string, number>>;
}

/** Tasks at or after `start` and at or before `end`. An entry is `task` or `task/1,3-5`. An empty side does not limit. */
export interface Subgraph {
  readonly start?: readonly string[];
  readonly end?: readonly string[];
}

/** Two tasks of a plan, by number, with the numbers of their waves, from 1, and the names of their rollouts. */
export interface LaterWaveNeeded {
  readonly task: number;
  readonly needs: number;
  readonly waves: readonly [number, number];
  readonly rollouts: readonly [string, string];
}

/** Why a plan is refused before anything starts. Tasks are indexes. A new reason is a new variant. */
export type Refusal =
  | { readonly reason: 'empty_graph' }
  | { readonly reason: 'bad_strategy'; readonly tasks: readonly number[] }
  | { readonly reason: 'cycle'; readonly path: readonly number[] }
  /** `task` is in an earlier wave than `needs`, which it waits for. */
  | ({ readonly reason: 'later_wave_needed' } & LaterWaveNeeded)
  | { readonly reason: 'bad_subgraph'; readonly entries: readonly string[] };

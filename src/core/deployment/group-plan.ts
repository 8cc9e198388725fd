import type { RolloutPolicy } from '../rollout/policy.ts';
import type { Call } from '../words.ts';
import type { CriterionVerdict } from './criteria.ts';
import type { Group } from './strategy.ts';

/** A group with its selectors resolved, as a workflow receives it. */
export interface GroupPlan extends Omit<Group, 'selectors' | 'rollout'> {
  /** Ascending indexes into the site's nodes. */
  readonly nodes: readonly number[];
  /** Without one, all nodes are in each call. */
  readonly rollout?: RolloutPlan;
}

export interface RolloutPlan extends RolloutPolicy {
  /** The nodes of the group, in the order in which the rollout reaches them. */
  readonly order: readonly number[];
}

/** One call that was made. */
export interface CallRecord {
  readonly call: Call;
  readonly nodes: readonly number[];
  readonly started_at: number;
  readonly ended_at?: number;
  readonly timed_out: boolean;
}

export interface CallVerdict {
  readonly call: Call;
  readonly verdicts: readonly CriterionVerdict[];
}

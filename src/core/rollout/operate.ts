import { unknownName } from '../text/did-you-mean.ts';
import type { RolloutAction } from '../words.ts';
import {
  isForAnswers,
  type Judged,
  nextWave,
  promote,
  type RolloutDecisions,
  type RolloutState,
  whyNotPromote,
} from './next-wave.ts';

/** Of an operator, about one rollout or all for which it has an effect. */
export interface RolloutRequest {
  /** The group whose rollout is meant; in a run of graphs the role. */
  readonly group?: string;
  /** Of `promote`: the number of failed nodes that stops the rollout from now on. */
  readonly limit?: number;
  /** Of `promote`: look at its nodes and ask its checks again, and go on only if all is well. */
  readonly recheck?: boolean;
}

/** A rollout of a run, as operators steer it. */
export interface SteeredRollout {
  /** Of its group or role. */
  readonly name: string;
  /** Why nobody can steer it any more; null: it goes on. */
  readonly over: string | null;
  /** Its waves are cut. */
  readonly hasBegun: boolean;
  readonly state: RolloutState;
  readonly policy: Judged;
}

/** Why a request to rollouts must be refused, or null. @param what has a rollout in this kind of run */
export function whyNotOperate(
  rollouts: readonly SteeredRollout[],
  what: 'group' | 'role',
  action: RolloutAction,
  request: RolloutRequest,
  now: number,
): string | null {
  const names = rollouts.map(({ name }) => name);
  if (rollouts.length === 0) return `no ${what} of the run has a rollout`;
  if (request.group !== undefined && !names.includes(request.group))
    return unknownName(`${what} with a rollout`, request.group, names);
  const whys = rollouts
    .filter(({ name }) => request.group === undefined || name === request.group)
    .map((one) => ({ name: one.name, why: whyNotOne(one, action, request, now) }));
  if (whys.some(({ why }) => why === null)) return null;
  return whys.map(({ name, why }) => `${what} ${name}: ${why}`).join('; ');
}

/** What a request changes in a rollout; null: it does not mean it, or has no effect on it. */
export function operate(
  rollout: SteeredRollout,
  action: RolloutAction,
  request: RolloutRequest,
  now: number,
): Partial<RolloutDecisions> | null {
  const isMeant = request.group === undefined || rollout.name === request.group;
  if (!isMeant || whyNotOne(rollout, action, request, now) !== null) return null;
  if (action === 'hold') return { held: true };
  if (action === 'abort_rollout') return { aborted: true };
  return request.recheck === true ? { looked: null, checked: null } : promote(rollout.state, request.limit);
}

function whyNotOne(
  { over, hasBegun, state, policy }: SteeredRollout,
  action: RolloutAction,
  { limit, recheck }: RolloutRequest,
  now: number,
): string | null {
  if (over !== null) return over;
  if (state.aborted) return 'its rollout was aborted';
  if (action === 'abort_rollout') return null;
  if (action === 'hold') {
    if (state.held) return 'its rollout is held already after the open wave';
    return hasBegun && state.opened === state.waves ? 'its last wave is open' : null;
  }
  if (!hasBegun) return 'its rollout has not begun';
  if (recheck === true) {
    if (limit !== undefined) return 'limit is for those who do not ask again';
    const step = nextWave(state, policy, now);
    return step.step === 'hold' && isForAnswers(step.why) ? null : 'neither its checks nor silent nodes hold it';
  }
  switch (whyNotPromote(state, policy, now, limit)) {
    case null:
      return null;
    case 'running':
      return 'nodes of the open wave are at work: nobody can vouch for them yet';
    case 'limit-too-low':
      return `${state.failed} nodes have failed: the limit must be higher`;
    default:
      return 'its rollout is over';
  }
}

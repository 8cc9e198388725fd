import { areWell, type CheckedWaves } from '../checks/wave-checks.ts';
import type { RolloutPolicy } from './policy.ts';
import { failuresAllowed } from './waves.ts';

/** What has been decided about a rollout so far. */
export interface RolloutDecisions {
  /** How many waves may be worked on: the first so many. */
  readonly opened: number;
  /** When the last of them was opened, in milliseconds as all times here. */
  readonly openedAt: number;
  /** The last look at the well nodes of the opened waves; `unseen`: why nobody could say how they are. */
  readonly looked: { readonly at: number; readonly unseen?: string } | null;
  /** The last answers to the checks of the opened waves. */
  readonly checked: CheckedWaves | null;
  /** An operator wants the checks asked again, whatever holds the rollout. */
  readonly again?: boolean;
  /** What an operator has vouched for: this many opened waves, with this many failed nodes. */
  readonly promoted: { readonly opened: number; readonly failed: number } | null;
  /** An operator's number of failed nodes in place of the policy's. */
  readonly limit: number | null;
  /** An operator wants no further wave. */
  readonly held: boolean;
  readonly aborted: boolean;
}

/** How the nodes of a rollout are. Their owner has them; here they are only numbers. */
export interface RolloutCounts {
  readonly waves: number;
  readonly total: number;
  /** Over all waves: not well, for whatever reason. One that is being tried again counts until it is well. */
  readonly failed: number;
  /** Of the opened waves: it may start, it is at work, it is well. */
  readonly waiting: number;
  readonly out: number;
  readonly well: number;
  /** When the last result of the opened waves came; `openedAt` at the earliest. */
  readonly lastResultAt: number;
}

export type RolloutState = RolloutDecisions & RolloutCounts;

export type Judged = Pick<RolloutPolicy, 'soak' | 'stop_at' | 'checks'>;

/** What a rollout does next. */
export type WaveStep =
  | { readonly step: 'open' }
  /** Nodes of the opened waves are at work, or may start (`mayStart`). */
  | { readonly step: 'work' }
  | { readonly step: 'soak'; readonly until: number }
  /** Look at the well nodes of the opened waves. */
  | { readonly step: 'look' }
  /** Ask the checks, about the well nodes of the opened waves. */
  | { readonly step: 'check' }
  /** Nothing goes on without an operator, or before failed nodes are well. */
  | { readonly step: 'hold'; readonly why: HoldReason }
  | { readonly step: 'finished' }
  | { readonly step: 'aborted' };

/**
 * `limit`: as many nodes have failed as `stop_at` says. `unproven`: no node is well yet, so that nothing shows that the change
 * works. `unseen`: nobody could look at the nodes after their soak. `checks`: a check of the wave failed or has no answer, or nobody
 * could ask one. `operator`: someone asked for it.
 */
export const HOLD_REASONS = ['limit', 'unproven', 'unseen', 'checks', 'operator'] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** Whether a rollout that is held for this reason goes on if its nodes and checks, asked again, are well. */
export const isForAnswers = (why: HoldReason | undefined): boolean => why === 'checks' || why === 'unseen';

export const NOTHING_OPEN: RolloutDecisions = {
  opened: 0,
  openedAt: 0,
  looked: null,
  checked: null,
  promoted: null,
  limit: null,
  held: false,
  aborted: false,
};

/** Decides what a rollout does next. Ask again after each change of a node, and at the end of a soak. */
export function nextWave(state: RolloutState, policy: Judged, now: number): WaveStep {
  const { opened, looked, checked } = state;
  const { checks = [] } = policy;
  if (state.aborted) return { step: 'aborted' };
  if (state.out > 0) return { step: 'work' };
  const until = state.lastResultAt + policy.soak * 1000;
  if (state.again === true && checks.length > 0)
    return policy.soak > 0 && now < until ? { step: 'soak', until } : { step: 'check' };
  if (state.waiting > 0) return mayStart(state, policy) ? { step: 'work' } : hold('limit');
  const isLast = opened === state.waves;
  const next: WaveStep = { step: isLast ? 'finished' : 'open' };
  if (state.promoted !== null && opened < state.promoted.opened && isForgiven(state)) return next;
  if (!isLast && state.failed >= limitOf(state, policy)) return hold('limit');
  if (opened > 0 && policy.soak > 0) {
    if (now < until) return { step: 'soak', until };
    if (looked === null || looked.at < until) return { step: 'look' };
    if (looked.unseen !== undefined) return hold('unseen');
  }
  if (opened > 0 && checks.length > 0) {
    if (checked === null || checked.at < until) return { step: 'check' };
    if (!areWell(checked, checks)) return hold('checks');
  }
  if (isLast) return next;
  if (opened > 0 && state.well === 0) return hold('unproven');
  return state.held ? hold('operator') : next;
}

const hold = (why: HoldReason): WaveStep => ({ step: 'hold', why });

/** Whether a node of the opened waves may start for the first time. Ask before each. */
export const mayStart = (state: RolloutState, policy: Judged): boolean => failuresLeft(state, policy) > 0;

/** How many more nodes may fail before nothing starts any more; the last of them stops the rollout. */
export function failuresLeft(state: RolloutState, policy: Judged): number {
  if (state.aborted) return 0;
  const forgiven = state.promoted !== null && isForgiven(state) ? state.promoted.failed + 1 : 0;
  return Math.max(0, forgiven - state.failed, limitOf(state, policy) - state.failed);
}

/** So many failed nodes stop the rollout. */
export const limitOf = ({ limit, total }: RolloutState, { stop_at }: Judged): number =>
  limit ?? failuresAllowed(stop_at, total);

/** Whether an operator has vouched for the opened waves with the failures that they have now. */
const isForgiven = ({ promoted, opened, failed }: RolloutState): boolean =>
  promoted !== null && opened <= promoted.opened && failed <= promoted.failed;

/** Opens the next wave. Only after `nextWave` has said so. */
export const openWave = <State extends RolloutDecisions>(state: State, now: number): State => ({
  ...state,
  opened: state.opened + 1,
  openedAt: now,
  looked: null,
  checked: null,
});

/** Why nobody can promote the rollout now, or null. */
export function whyNotPromote(
  state: RolloutState,
  policy: Judged,
  now: number,
  limit?: number,
): 'aborted' | 'finished' | 'running' | 'limit-too-low' | null {
  const { step } = nextWave(state, policy, now);
  if (step === 'aborted' || step === 'finished') return step;
  if (step === 'work' || step === 'open') return 'running';
  return limit !== undefined && limit <= state.failed ? 'limit-too-low' : null;
}

/**
 * An operator vouches for what is there: the rest of a wave in which the limit was reached may start, or the next wave opens, without the
 * rest of its soak. Once: one more failure, or the end of that wave, holds the rollout again, unless a new limit allows it. Only
 * if `whyNotPromote` has nothing against it.
 */
export const promote = (
  { opened, waiting, failed, ...state }: RolloutState,
  limit?: number,
): Partial<RolloutDecisions> => ({
  held: false,
  promoted: { opened: waiting > 0 ? opened : opened + 1, failed },
  limit: limit ?? state.limit,
});

import type { AppliedRollout, RolloutStatus } from '../contracts/rollout.ts';
import { given } from '../data/given.ts';
import { type Judged, limitOf, type RolloutState, type WaveStep } from './next-wave.ts';
import type { RolloutPolicy } from './policy.ts';

/** How the rollout of a group or a role stands. @param ended how it ended; undefined: it goes on */
export function showGroupRollout(
  counts: RolloutState,
  policy: Judged,
  step: WaveStep | null,
  ended?: 'success' | 'stopped',
): RolloutStatus {
  const state = ended ?? stateWordOf(step);
  const shown = {
    ...{ state, wave: counts.opened, waves: counts.waves, failed: counts.failed, limit: limitOf(counts, policy) },
    ...(counts.held && ended === undefined ? { why: 'operator' as const } : {}),
  };
  if (state === 'soaking' && step?.step === 'soak') return { ...shown, until: new Date(step.until).toISOString() };
  const checks = counts.checked?.results.map(({ holds: _holds, ...result }) => result);
  if (state !== 'held' || step?.step !== 'hold') return { ...shown, ...given({ checks }) };
  const unseen = step.why === 'unseen' ? counts.looked?.unseen : undefined;
  return { ...shown, why: step.why, ...given({ unseen, checks }) };
}

function stateWordOf(step: WaveStep | null): RolloutStatus['state'] {
  switch (step?.step) {
    case undefined:
      return 'waiting';
    case 'soak':
    case 'look':
      return 'soaking';
    case 'check':
      return 'checking';
    case 'hold':
      return 'held';
    default:
      return 'running';
  }
}

/** The policy of a rollout without its nodes. */
export const appliedPolicy = ({ first, growth, soak, stop_at }: RolloutPolicy): AppliedRollout => ({
  ...{ first, growth, soak, stop_at },
});

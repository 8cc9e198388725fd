import type { RolloutStatus } from '../contracts/rollout.ts';
import { counted } from '../text/text.ts';

const WHY: Readonly<Record<NonNullable<RolloutStatus['why']>, string>> = {
  limit: 'its limit of failed nodes is reached',
  unproven: 'no node is well yet',
  unseen: 'nobody could look at its nodes after their soak',
  checks: 'its checks are not well',
  operator: 'an operator holds it',
};

/** How a rollout stands, in one line. */
export function rolloutText({ state, wave, waves, failed, limit, until, why, unseen, checks }: RolloutStatus): string {
  const failures = failed === 0 ? [] : [`${counted(failed, 'node')} failed, stops at ${limit}`];
  const later = why === 'operator' && state !== 'held' ? ['held after this wave'] : [];
  return [`wave ${wave} of ${waves}`, ...failures, ...now(), ...unwellText(checks), ...later].join(' · ');

  function now(): string[] {
    if (state === 'held')
      return [`held: ${why === undefined ? 'an operator decides' : WHY[why]}${unseen ? ` (${unseen})` : ''}`];
    if (state === 'soaking')
      return [until === undefined ? 'its nodes are looked at' : `soaking until ${until.slice(11, 19)} UTC`];
    if (state === 'checking') return ['its checks are asked'];
    return state === 'running' ? [] : [state];
  }
}

/** The checks that are not well, at most three of them. */
const unwellText = (checks: RolloutStatus['checks'] = []): string[] =>
  checks
    .filter(({ verdict }) => verdict !== 'well')
    .slice(0, 3)
    .map(({ name, verdict, nodes, text }) => {
      const of = nodes === undefined ? '' : ` on ${counted(nodes, 'node')}`;
      const word = verdict === 'failed' ? 'failed' : 'has no answer';
      return `check ${name} ${word}${of}${text === undefined ? '' : `: ${text}`}`;
    });

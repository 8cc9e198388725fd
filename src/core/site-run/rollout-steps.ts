// What people can do to rollouts: workflows need none of it.
import type { RolloutStatus } from '../contracts/site-run.ts';
import type { RolloutVerb } from '../run-work.ts';

/** What people can do to a rollout now. A wave at work cannot be promoted: nobody can vouch for it yet. */
export function rolloutVerbs({ state, wave, waves }: RolloutStatus): readonly RolloutVerb[] {
  const hold = wave < waves ? (['hold'] as const) : [];
  if (state === 'held') return ['promote', 'abort-rollout'];
  if (state === 'soaking') return ['promote', ...hold, 'abort-rollout'];
  return state === 'running' ? [...hold, 'abort-rollout'] : [];
}

/** The commands for a held rollout, ready to be copied. @param run how commands name it */
export function nextOfHeldRollout(
  run: string | number,
  group: string,
  { why, failed }: RolloutStatus,
  failedNode: string | undefined,
): string[] {
  const of = `${run} --group ${group}`;
  const more = why === 'limit' ? [`sitewright run promote ${of} --limit ${failed + 1}`] : [];
  const retry = failedNode === undefined ? [] : [`sitewright run retry ${run} ${failedNode}`];
  return [`sitewright run promote ${of}`, ...more, ...retry, `sitewright run abort-rollout ${of}`];
}

// What people can do to rollouts: workflows need none of it.
import type { RolloutStatus } from '../contracts/rollout.ts';
import type { AnyRunStatus } from '../run/status.ts';
import type { RolloutVerb } from '../run-work.ts';
import { isForAnswers } from './next-wave.ts';

/** The rollouts of a run that have begun, by their groups or roles. */
export const rolloutsIn = (status: AnyRunStatus): { readonly name: string; readonly rollout: RolloutStatus }[] =>
  'cluster' in status
    ? status.graphs.flatMap(({ rollouts = [] }) => rollouts.map(({ role, ...rollout }) => ({ name: role, rollout })))
    : status.groups.flatMap(({ name, rollout }) => (rollout === undefined ? [] : [{ name, rollout }]));

/** What people can do to a rollout now. A wave at work cannot be promoted: nobody can vouch for it yet. */
export function rolloutVerbs({ state, wave, waves }: RolloutStatus): readonly RolloutVerb[] {
  const hold = wave < waves ? (['hold'] as const) : [];
  if (state === 'held') return ['promote', 'abort-rollout'];
  if (state === 'soaking') return ['promote', ...hold, 'abort-rollout'];
  return state === 'running' ? [...hold, 'abort-rollout'] : [];
}

/** The commands for a held rollout, ready to be copied. @param run how commands name it @param retry the command that retries what failed */
export function nextOfHeldRollout(
  run: string | number,
  group: string,
  { why, failed }: RolloutStatus,
  retry: string | undefined,
): string[] {
  const of = `${run} --group ${group}`;
  const again = isForAnswers(why) ? [`sitewright run promote ${of} --recheck`] : [];
  const more = why === 'limit' ? [`sitewright run promote ${of} --limit ${failed + 1}`] : [];
  return [
    ...again,
    `sitewright run promote ${of}`,
    ...more,
    ...(retry === undefined ? [] : [retry]),
    `sitewright run abort-rollout ${of}`,
  ];
}

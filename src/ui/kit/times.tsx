// Times and durations that go on by themselves.
import type { RunStatus } from '../../core/contracts/site-run.ts';
import { minute, now, shownMoment, tenSeconds } from './clock.ts';
import { count, lasting, type Moment, msOf, timeOf } from './words.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `4 min ago`, with the moment itself as its title; reads aloud as one text. */
export function Ago({ of }: { readonly of: Moment | null | undefined }) {
  if (of === null || of === undefined) return null;
  const at = msOf(of);
  const age = now.peek() - at;
  // Subscribes to no more than it shows.
  const moment = age < MINUTE ? now.value : age < HOUR ? tenSeconds.value : minute.value;
  return (
    <time datetime={new Date(at).toISOString()} title={timeOf(of)}>
      {agoIn(moment - at, at)}
    </time>
  );
}

function agoIn(age: number, at: number): string {
  if (age < 0 && age > -HOUR) return 'just now';
  if (age < 5_000) return 'just now';
  if (age < MINUTE) return `${Math.floor(age / 1000)} s ago`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 14 * DAY) return Math.floor(age / DAY) === 1 ? 'yesterday' : `${Math.floor(age / DAY)} days ago`;
  return new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** Since when a run is paused, by whom and why. */
export const Paused = ({ of: { since, by, reason } }: { readonly of: NonNullable<RunStatus['paused']> }) => (
  <>
    <Ago of={since} />
    {by ? ` by ${by}` : ''}
    {reason ? `: ${reason}` : ''}
  </>
);

/** How long it took, or has taken so far: as of the moment that the page shows. */
export function Lasting({
  from,
  to,
}: {
  readonly from: Moment | null | undefined;
  readonly to: Moment | null | undefined;
}) {
  if (!from) return null;
  const text = lasting(from, to ?? new Date(shownMoment.value));
  return (
    <span class="lasting" title={`${timeOf(from)} – ${to ? timeOf(to) : 'still running'}`}>
      {text}
    </span>
  );
}

/** How long a run should still take, and by how many earlier runs. */
export function TimeLeft({
  of: { ends_at: end, earlier_runs: runs },
}: {
  readonly of: NonNullable<RunStatus['expected']>;
}) {
  const basis = runs === 0 ? 'from the model of rehearsals' : `from ${count(runs, 'earlier run')}`;
  const left = msOf(end) - shownMoment.value;
  const text = left > 0 ? `about ${lasting(0, Math.ceil(left / 1000) * 1000)} left` : 'longer than expected';
  return (
    <span class="left">
      {' '}
      · {text} <span class="quiet">({basis})</span>
    </span>
  );
}

/** `12s`, `2m10s`, `3h05m`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  if (hours > 0) return `${hours}h${two(minutes)}m`;
  return minutes > 0 ? `${minutes}m${two(rest)}s` : `${rest}s`;
}

/** Between two moments in ISO 8601; empty when one is not known. */
export function formatSpan(start: string | null | undefined, end: string | null | undefined): string {
  return start && end ? formatDuration(Date.parse(end) - Date.parse(start)) : '';
}

const DAY_MS = 86_400_000;

/** `4 min`: how long something took or has been so, in its largest unit. */
function roughly(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 2 * 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}

/** A time with its distance from now: `23:25:18Z (4 min ago)`, with the date unless it is of the last 24 hours. */
export function formatMoment(moment: string, now: number): string {
  const at = Date.parse(moment);
  const time =
    Math.abs(now - at) < DAY_MS ? `${moment.slice(11, 19)}Z` : `${moment.slice(0, 10)} ${moment.slice(11, 16)}Z`;
  return `${time} (${formatDistance(moment, now)})`;
}

/** `4 min ago`, `in 2 h`: a moment by its distance from now. */
export function formatDistance(moment: string, now: number): string {
  const at = Date.parse(moment);
  return at > now ? `in ${roughly(at - now)}` : `${roughly(now - at)} ago`;
}

/** A time with the time since then, if the present is known: `2026-05-01T10:00:00Z (4 min)`. */
export const sinceText = (moment: string, now: number | undefined): string =>
  now === undefined ? moment : `${moment} (${roughly(now - Date.parse(moment))})`;

interface Expecting {
  readonly expected?: { readonly ends_at: string; readonly earlier_runs: number } | undefined;
}

/** When a run should end, and by how many earlier runs. */
export function expectedLines({ expected }: Expecting, now = Date.now()): string[] {
  if (expected === undefined) return [];
  const left = Date.parse(expected.ends_at) - now;
  const { earlier_runs: runs } = expected;
  const basis = runs === 0 ? 'from the model of rehearsals' : `from ${runs} earlier ${runs === 1 ? 'run' : 'runs'}`;
  return [left > 0 ? `about ${formatDuration(left)} left, ${basis}` : `longer than expected, ${basis}`];
}

/** A run shows what changes within a second or two: an older status is one that has not changed. */
const NOW_MS = 10_000;

/** The line on a status that is not of now. */
export const asOfLines = ({ as_of }: { readonly as_of?: string | undefined }, now = Date.now()): string[] =>
  as_of === undefined || now - Date.parse(as_of) < NOW_MS ? [] : [`unchanged since ${formatMoment(as_of, now)}`];

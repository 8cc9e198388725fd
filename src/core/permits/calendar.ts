import { DAYS, type Freeze, type Limits, MINUTES_A_DAY, type Window } from './limits.ts';

/** How far a zone is ahead of UTC at a moment (ms since 1970), in minutes. */
export type ZoneOffset = (zone: string, at: number) => number;

/** Why no work begins now, and when it may again (ms since 1970); null: never within the next years. */
export type Closed =
  | { readonly kind: 'freeze'; readonly freeze: Freeze; readonly until: number | null }
  | { readonly kind: 'window'; readonly until: number | null };

const MINUTE = 60_000;
const DAY = MINUTES_A_DAY * MINUTE;
/** Freezes and windows that follow each other are looked through so far. */
const MOST_STEPS = 500;

/** Why the calendar of the limits lets no work begin at a moment; null if it does. */
export function closedAt(
  { windows, freezes }: Pick<Limits, 'windows' | 'freezes'>,
  now: number,
  offset: ZoneOffset,
): Closed | null {
  let reason: Pick<Extract<Closed, { kind: 'freeze' }>, 'kind' | 'freeze'> | { readonly kind: 'window' } | null = null;
  let at = now;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const freeze = freezes.find((one) => isFrozen(one, at, offset));
    if (freeze === undefined && (windows.length === 0 || windows.some((one) => isWithin(one, at, offset))))
      return reason && { ...reason, until: at };
    reason ??= freeze === undefined ? { kind: 'window' } : { kind: 'freeze', freeze };
    const next: number = freeze === undefined ? nextStart(windows, at, offset) : endOf(freeze, offset);
    if (!(next > at)) break;
    at = next;
  }
  return reason && { ...reason, until: null };
}

/** The last day of a freeze is frozen to its end. */
function isFrozen({ from, to, zone }: Freeze, at: number, offset: ZoneOffset): boolean {
  const local = localOf(zone, at, offset);
  return local >= midnight(from) && local < midnight(to) + DAY;
}

const endOf = ({ to, zone }: Freeze, offset: ZoneOffset): number => instantOf(zone, midnight(to) + DAY, offset);

/** The days of a window are those on which it begins. */
function isWithin(window: Window, at: number, offset: ZoneOffset): boolean {
  const local = localOf(window.zone, at, offset);
  const today = Math.floor(local / DAY) * DAY;
  return [today - DAY, today].some(
    (day) => isOn(window, day) && local >= day + window.from * MINUTE && local < day + endsAt(window) * MINUTE,
  );
}

const endsAt = ({ from, to }: Window): number => (to > from ? to : to + MINUTES_A_DAY);

/** When the next of these windows opens after a moment. */
function nextStart(windows: readonly Window[], at: number, offset: ZoneOffset): number {
  let next = Number.POSITIVE_INFINITY;
  for (const window of windows) {
    const today = Math.floor(localOf(window.zone, at, offset) / DAY) * DAY;
    for (let day = 0; day <= DAYS.length + 1; day += 1) {
      const start = today + day * DAY;
      if (!isOn(window, start)) continue;
      const opens = instantOf(window.zone, start + window.from * MINUTE, offset);
      if (opens <= at) continue;
      next = Math.min(next, opens);
      break;
    }
  }
  return next;
}

/** The first of January 1970 was a Thursday. */
const isOn = ({ days }: Window, midnightOfDay: number): boolean =>
  days.includes(DAYS[(((midnightOfDay / DAY + 3) % 7) + 7) % 7]!);

const midnight = (date: string): number => Date.parse(`${date}T00:00:00Z`);

/** What the clocks of a zone show, as if it were UTC. */
const localOf = (zone: string, at: number, offset: ZoneOffset): number => at + offset(zone, at) * MINUTE;

/** The first moment at which the clocks of a zone show this time or, where they skip it, a later one. */
function instantOf(zone: string, local: number, offset: ZoneOffset): number {
  // Clocks are moved once within a day: one of the offsets around it is right.
  const offsets = [local - DAY, local + DAY].map((at) => offset(zone, at) * MINUTE);
  const shown = offsets.map((minutes) => local - minutes).sort((a, b) => a - b);
  return shown.find((at) => localOf(zone, at, offset) >= local) ?? shown.at(-1)!;
}

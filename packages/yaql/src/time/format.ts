import { type CivilTime, type DateTime, daysFromCivil, offsetText } from '../values/time.ts';
import { dayNames, monthNames, short } from './names.ts';

/** Writes a time by a pattern of `strftime` (glibc, C locale), with the flags `-`, `_`, `0`, `^` and `#`. */
export function formatTime(value: DateTime, pattern: string): string {
  const civil = value.civil();
  const weekday = value.weekday();
  // The pattern is text of C, which ends at a zero.
  return pattern.replace(/\0.*$/s, '').replace(/%([-_0^#]*)([a-zA-Z%])/g, (whole, flags: string, letter: string) => {
    const text = directive(letter, value, civil, weekday, flags);
    if (text === null) return whole;
    if (flags.includes('^')) return text.toUpperCase();
    return flags.includes('#') ? (letter === 'p' || letter === 'Z' ? text.toLowerCase() : text.toUpperCase()) : text;
  });
}

/** What directives are made of. */
interface Parts {
  readonly value: DateTime;
  readonly c: CivilTime;
  /** 0 is Monday. */
  readonly weekday: number;
  readonly hour12: number;
  readonly yearDay: number;
  /** Padded as the flags say, else with the filler. */
  readonly number: (n: number, width: number, filler?: string) => string;
  readonly again: (pattern: string) => string;
}

const DIRECTIVES: Readonly<Record<string, (parts: Parts) => string>> = {
  '%': () => '%',
  a: ({ weekday }) => short(dayNames[weekday] as string),
  A: ({ weekday }) => dayNames[weekday] as string,
  b: ({ c }) => short(monthNames[c.month - 1] as string),
  h: ({ c }) => short(monthNames[c.month - 1] as string),
  B: ({ c }) => monthNames[c.month - 1] as string,
  c: ({ again }) => again('%a %b %e %H:%M:%S %Y'),
  C: ({ number, c }) => number(Math.floor(c.year / 100), 1),
  d: ({ number, c }) => number(c.day, 2),
  D: ({ again }) => again('%m/%d/%y'),
  x: ({ again }) => again('%m/%d/%y'),
  e: ({ number, c }) => number(c.day, 2, ' '),
  f: ({ c }) => String(c.microsecond).padStart(6, '0'),
  F: ({ again }) => again('%Y-%m-%d'),
  g: ({ weekday, number, c }) => number(isoWeek(c, weekday).year % 100, 2),
  G: ({ weekday, number, c }) => number(isoWeek(c, weekday).year, 1),
  H: ({ number, c }) => number(c.hour, 2),
  I: ({ number, hour12 }) => number(hour12, 2),
  j: ({ number, yearDay }) => number(yearDay, 3),
  k: ({ number, c }) => number(c.hour, 2, ' '),
  l: ({ number, hour12 }) => number(hour12, 2, ' '),
  m: ({ number, c }) => number(c.month, 2),
  M: ({ number, c }) => number(c.minute, 2),
  n: () => '\n',
  p: ({ c }) => (c.hour < 12 ? 'AM' : 'PM'),
  P: ({ c }) => (c.hour < 12 ? 'am' : 'pm'),
  r: ({ again }) => again('%I:%M:%S %p'),
  R: ({ again }) => again('%H:%M'),
  s: ({ value }) => String(value.local / 1_000_000n),
  S: ({ number, c }) => number(c.second, 2),
  t: () => '\t',
  T: ({ again }) => again('%H:%M:%S'),
  X: ({ again }) => again('%H:%M:%S'),
  u: ({ weekday }) => String(weekday + 1),
  U: ({ weekday, number, yearDay }) => number(Math.floor((yearDay + 6 - ((weekday + 1) % 7)) / 7), 2),
  V: ({ weekday, number, c }) => number(isoWeek(c, weekday).week, 2),
  w: ({ weekday }) => String((weekday + 1) % 7),
  W: ({ weekday, number, yearDay }) => number(Math.floor((yearDay + 6 - weekday) / 7), 2),
  y: ({ number, c }) => number(c.year % 100, 2),
  Y: ({ number, c }) => number(c.year, 1),
  z: ({ value }) => offsetText(value.offset, ''),
  Z: ({ value }) => (value.offset === 0n ? 'UTC' : ''),
};

function directive(letter: string, value: DateTime, c: CivilTime, weekday: number, flags: string): string | null {
  const write = Object.hasOwn(DIRECTIVES, letter) ? DIRECTIVES[letter] : undefined;
  if (write === undefined) return null;
  return write({
    value,
    c,
    weekday,
    hour12: c.hour % 12 === 0 ? 12 : c.hour % 12,
    yearDay: daysFromCivil(c.year, c.month, c.day) - daysFromCivil(c.year, 1, 1) + 1,
    number(n, width, filler = '0') {
      const flag = flags.replace(/[\^#]/g, '').at(-1);
      if (flag === '-') return String(n);
      return String(n).padStart(width, flag === '_' ? ' ' : flag === '0' ? '0' : filler);
    },
    again: (pattern) => formatTime(value, pattern),
  });
}

/** Year and week of ISO 8601: a week belongs to the year of its Thursday. */
function isoWeek(c: CivilTime, weekday: number): { year: number; week: number } {
  const thursday = daysFromCivil(c.year, c.month, c.day) - weekday + 3;
  const start = daysFromCivil(c.year, 1, 1);
  let year = c.year;
  if (thursday < start) year--;
  else if (thursday >= daysFromCivil(c.year + 1, 1, 1)) year++;
  return { year, week: Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1 };
}

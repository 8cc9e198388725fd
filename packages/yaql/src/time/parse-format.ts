import { valueError, YaqlError } from '../errors.ts';
import { blank, isBlank } from '../values/text.ts';
import { DateTime, daysFromCivil } from '../values/time.ts';
import { dayNames, monthNames, short } from './names.ts';

const names = (list: readonly string[]): string => [...list].sort((a, b) => b.length - a.length).join('|');

/** Text each directive of `strptime` takes, in the C locale. */
const directives: Record<string, string> = {
  a: names(dayNames.map(short)),
  A: names(dayNames),
  b: names(monthNames.map(short)),
  B: names(monthNames),
  d: '3[0-1]|[1-2]\\d|0[1-9]|[1-9]| [1-9]',
  f: '[0-9]{1,6}',
  G: '\\d\\d\\d\\d',
  H: '2[0-3]|[0-1]\\d|\\d',
  I: '1[0-2]|0[1-9]|[1-9]| [1-9]',
  j: '36[0-6]|3[0-5]\\d|[1-2]\\d\\d|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9]',
  m: '1[0-2]|0[1-9]|[1-9]',
  M: '[0-5]\\d|\\d',
  p: 'am|pm',
  S: '6[0-1]|[0-5]\\d|\\d',
  u: '[1-7]',
  U: '5[0-3]|[0-4]\\d|\\d',
  V: '5[0-3]|0[1-9]|[1-4]\\d|\\d',
  w: '[0-6]',
  W: '5[0-3]|[0-4]\\d|\\d',
  y: '\\d\\d',
  Y: '\\d\\d\\d\\d',
  z: '[+-]\\d\\d:?[0-5]\\d(?::?[0-5]\\d(?:\\.\\d{1,6})?)?|z',
  Z: 'utc|gmt',
};
const composed: Record<string, string> = { c: '%a %b %d %H:%M:%S %Y', x: '%m/%d/%y', X: '%H:%M:%S' };

/** Parses by a pattern of Python's `strptime`; without a zone the result is UTC. ValueError when it does not fit. */
export function parseTimeByFormat(text: string, format: string): DateTime {
  const found = new RegExp(`^(?:${patternOf(format)})`, 'i').exec(text);
  if (found === null) throw valueError(`time data '${text}' does not match format '${format}'`);
  if (found[0].length !== text.length) throw valueError('unconverted data remains');
  if (found.groups?.z === 'z') throw valueError(`time data '${text}' does not match format '${format}'`);
  return assemble(found.groups ?? {});
}

function patternOf(format: string): string {
  const used = new Set<string>();
  let out = '';
  const expanded = format.replace(/%([cxX])/g, (_, letter: string) => composed[letter] as string);
  for (let i = 0; i < expanded.length; i++) {
    const c = expanded[i] as string;
    if (isBlank(c)) {
      while (isBlank(expanded[i + 1] ?? '')) i++;
      out += `${blank}+`;
    } else if (c !== '%') out += c.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
    else {
      const letter = expanded[++i];
      if (letter === undefined) throw valueError(`stray % in format '${format}'`);
      if (letter === '%') out += '%';
      else {
        const part = Object.hasOwn(directives, letter) ? directives[letter] : undefined;
        if (part === undefined) throw valueError(`'${letter}' is a bad directive in format '${format}'`);
        if (used.has(letter)) throw new YaqlError('re.error', `redefinition of group name '${letter}'`);
        used.add(letter);
        out += `(?<${letter}>${part})`;
      }
    }
  }
  return out;
}

type Fields = Record<string, string | undefined>;
const indexOfName = (list: readonly string[], name: string): number =>
  list.findIndex((n) => n.toLowerCase() === name.toLowerCase());

function assemble(fields: Fields): DateTime {
  const number = (key: string): number | undefined => (fields[key] === undefined ? undefined : Number(fields[key]));
  let year = number('Y');
  const shortYear = number('y');
  if (shortYear !== undefined) year = shortYear <= 68 ? 2000 + shortYear : 1900 + shortYear;
  let month = number('m') ?? 1;
  let day = number('d') ?? 1;
  if (fields.b !== undefined) month = indexOfName(monthNames.map(short), fields.b) + 1;
  if (fields.B !== undefined) month = indexOfName(monthNames, fields.B) + 1;
  let weekday: number | undefined;
  if (fields.a !== undefined) weekday = indexOfName(dayNames.map(short), fields.a);
  if (fields.A !== undefined) weekday = indexOfName(dayNames, fields.A);
  if (fields.w !== undefined) weekday = (Number(fields.w) + 6) % 7;
  if (fields.u !== undefined) weekday = Number(fields.u) - 1;
  let hour = number('H') ?? 0;
  if (fields.I !== undefined) {
    hour = Number(fields.I) % 12;
    if (fields.p?.toLowerCase() === 'pm') hour += 12;
  }
  const isoDays = isoWeekDate(fields, weekday);
  const ordinal = dayOfYear(fields, year, weekday);
  const second = number('S') ?? 0;
  const microsecond = Number((fields.f ?? '').padEnd(6, '0'));
  const base = year ?? (month === 2 && day === 29 ? 1904 : 1900);
  const fixed = year ?? (base === 1904 ? 1900 : base);
  if (isoDays !== null) {
    const date = new DateTime(BigInt(isoDays) * 86_400_000_000n, 0n).civil();
    year = date.year;
    month = date.month;
    day = date.day;
  } else if (ordinal !== null) {
    const date = DateTime.fromCivil(
      { year: fixed, month: 1, day: 1, hour: 0, minute: 0, second: 0, microsecond: 0 },
      0n,
    )
      .plus(BigInt(ordinal - 1) * 86_400_000_000n)
      .civil();
    year = date.year;
    month = date.month;
    day = date.day;
  }
  return DateTime.fromCivil(
    {
      year: ordinal === null && isoDays === null ? fixed : (year as number),
      month,
      day,
      hour,
      minute: number('M') ?? 0,
      second,
      microsecond,
    },
    offsetOf(fields.z),
  );
}

/** Days since 1970 of a date by ISO 8601 year, week and weekday. */
function isoWeekDate(fields: Fields, weekday: number | undefined): number | null {
  if (fields.G === undefined && fields.V === undefined) return null;
  if (fields.G === undefined || fields.V === undefined || weekday === undefined || fields.j !== undefined)
    throw valueError(
      "the ISO year directive '%G' must be used with the ISO week directive '%V' and a weekday directive",
    );
  const year = Number(fields.G);
  const fourth = daysFromCivil(year, 1, 4);
  const firstMonday = fourth - ((((fourth + 3) % 7) + 7) % 7);
  const week = Number(fields.V);
  const lastWeek = (((daysFromCivil(year, 12, 28) - firstMonday) / 7) | 0) + 1;
  if (week < 1 || week > lastWeek) throw valueError(`Invalid week: ${week}`);
  return firstMonday + (week - 1) * 7 + weekday;
}

/** The day of the year where it is given directly or by a week and a weekday. */
function dayOfYear(fields: Fields, year: number | undefined, weekday: number | undefined): number | null {
  if (fields.j !== undefined) return Number(fields.j);
  const week = fields.U ?? fields.W;
  if (week === undefined || year === undefined || weekday === undefined) return null;
  const first = (((daysFromCivil(year, 1, 1) + 3) % 7) + 7) % 7;
  const sundays = fields.U !== undefined;
  const start = sundays ? (first + 1) % 7 : first;
  const inWeek = sundays ? (weekday + 1) % 7 : weekday;
  const weekZero = (7 - start) % 7;
  if (Number(week) === 0) return 1 + inWeek - start;
  return 1 + weekZero + 7 * (Number(week) - 1) + inWeek;
}

function offsetOf(zone: string | undefined): bigint {
  if (zone === undefined || zone.toLowerCase() === 'z') return 0n;
  const [, sign, hours, minutes, seconds = '0', fraction = ''] =
    /^([+-])(\d\d):?(\d\d)(?::?(\d\d)(?:\.(\d+))?)?$/.exec(zone) ?? [];
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  if (total >= 86400) throw valueError('offset must be a timedelta strictly between -24 and 24 hours');
  const micro = BigInt(total) * 1_000_000n + BigInt(fraction.padEnd(6, '0') || '0');
  return sign === '-' ? -micro : micro;
}

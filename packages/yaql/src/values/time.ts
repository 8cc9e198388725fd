import { valueError, YaqlError } from '../errors.ts';
import type { HashKey } from './hash.ts';
import { Kind, ValueObject } from './kind.ts';
import { divideHalfEven, exactFraction } from './rounding.ts';

const DAY = 86_400_000_000n;
const maxSpan = 999_999_999n * DAY + DAY - 1n;
const minSpan = -999_999_999n * DAY;

/** A length of time of either sign, in whole microseconds. */
export class TimeSpan extends ValueObject {
  readonly microseconds: bigint;

  /** OverflowError beyond 999,999,999 days. */
  constructor(microseconds: bigint) {
    super();
    if (microseconds > maxSpan || microseconds < minSpan)
      throw new YaqlError('OverflowError', 'days must have magnitude <= 999999999');
    this.microseconds = microseconds;
  }

  /** From a double, rounded half to even. */
  static fromDouble(microseconds: number): TimeSpan {
    if (Number.isNaN(microseconds)) throw valueError('cannot convert float NaN to integer');
    if (!Number.isFinite(microseconds))
      throw new YaqlError('OverflowError', 'cannot convert float infinity to integer');
    const { numerator, denominator } = exactFraction(microseconds);
    return new TimeSpan(divideHalfEven(numerator, denominator));
  }

  override get kind(): Kind {
    return Kind.TimeSpan;
  }
  override hashKey(): HashKey {
    return `\0t${this.microseconds}`;
  }
}

/** The fields of a clock and calendar. */
export interface CivilTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
}

const daysInMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (daysInMonths[month - 1] as number);

/** Days from 1970-01-01, proleptic Gregorian. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const z = days + 719468;
  const era = Math.floor(z / 146097);
  const doe = z - era * 146097;
  const yoe = Math.floor((doe - Math.floor(doe / 1460) + Math.floor(doe / 36524) - Math.floor(doe / 146096)) / 365);
  const doy = doe - (365 * yoe + Math.floor(yoe / 4) - Math.floor(yoe / 100));
  const mp = Math.floor((5 * doy + 2) / 153);
  const month = mp < 10 ? mp + 3 : mp - 9;
  return { year: yoe + era * 400 + (month <= 2 ? 1 : 0), month, day: doy - Math.floor((153 * mp + 2) / 5) + 1 };
}

const minLocal = BigInt(daysFromCivil(1, 1, 1)) * DAY;
const maxLocal = BigInt(daysFromCivil(10000, 1, 1)) * DAY - 1n;

const floorDiv = (a: bigint, b: bigint): bigint => (a % b !== 0n && a < 0n !== b < 0n ? a / b - 1n : a / b);

/**
 * An instant with the offset of its zone. Years 1 to 9999, microseconds. As in Python, a zone a day or more from UTC is
 * accepted, and only operations that need the offset refuse it.
 */
export class DateTime extends ValueObject {
  /** Microseconds from 1970-01-01T00:00:00 to the clock and calendar of the zone. */
  readonly local: bigint;
  /** Microseconds east of UTC as given, of any size; see {@link offset}. */
  readonly zone: bigint;

  /** OverflowError when the local date leaves the years 1 to 9999. */
  constructor(utc: bigint, zone: bigint) {
    super();
    this.local = utc + zone;
    this.zone = zone;
    if (this.local < minLocal || this.local > maxLocal) throw new YaqlError('OverflowError', 'date value out of range');
  }

  /** Microseconds east of UTC. ValueError for a day or more. */
  get offset(): bigint {
    if (this.zone <= -DAY || this.zone >= DAY)
      throw valueError('offset must be a timedelta strictly between -24 and 24 hours');
    return this.zone;
  }

  /** Microseconds since 1970-01-01T00:00:00 UTC. ValueError as of {@link offset}. */
  get utc(): bigint {
    return this.local - this.offset;
  }

  /** ValueError for a field outside its range. */
  static fromCivil(civil: CivilTime, offset: bigint): DateTime {
    const { year, month, day, hour, minute, second, microsecond } = civil;
    if (!(year >= 1 && year <= 9999)) throw valueError(`year ${year} is out of range`);
    if (!(month >= 1 && month <= 12)) throw valueError('month must be in 1..12');
    if (!(day >= 1 && day <= daysInMonth(year, month))) throw valueError('day is out of range for month');
    if (!(hour >= 0 && hour <= 23)) throw valueError('hour must be in 0..23');
    if (!(minute >= 0 && minute <= 59)) throw valueError('minute must be in 0..59');
    if (!(second >= 0 && second <= 59)) throw valueError('second must be in 0..59');
    if (!(microsecond >= 0 && microsecond <= 999999)) throw valueError('microsecond must be in 0..999999');
    const seconds = daysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return new DateTime(BigInt(seconds) * 1_000_000n + BigInt(microsecond) - offset, offset);
  }

  override get kind(): Kind {
    return Kind.DateTime;
  }
  override hashKey(): HashKey {
    return `\0d${this.utc}`;
  }

  /** The local clock and calendar. */
  civil(): CivilTime {
    const days = floorDiv(this.local, DAY);
    const inDay = this.local - days * DAY;
    const seconds = Number(inDay / 1_000_000n);
    return {
      ...civilFromDays(Number(days)),
      hour: Math.floor(seconds / 3600),
      minute: Math.floor(seconds / 60) % 60,
      second: seconds % 60,
      microsecond: Number(inDay % 1_000_000n),
    };
  }

  /** Monday is 0. */
  weekday(): number {
    const days = Number(floorDiv(this.local, DAY));
    return (((days + 3) % 7) + 7) % 7;
  }

  plus(microseconds: bigint): DateTime {
    return new DateTime(this.local - this.zone + microseconds, this.zone);
  }
}

const pad = (n: number, width: number): string => String(n).padStart(width, '0');

/** `+03:00`, with seconds and microseconds only where they are not zero. */
export function offsetText(offset: bigint, colon = ':'): string {
  const sign = offset < 0n ? '-' : '+';
  const magnitude = offset < 0n ? -offset : offset;
  const seconds = Number(magnitude / 1_000_000n);
  const micro = Number(magnitude % 1_000_000n);
  let text = `${sign}${pad(Math.floor(seconds / 3600), 2)}${colon}${pad(Math.floor(seconds / 60) % 60, 2)}`;
  if (seconds % 60 !== 0 || micro !== 0) text += `${colon}${pad(seconds % 60, 2)}`;
  return micro === 0 ? text : `${text}.${pad(micro, 6)}`;
}

/** ISO 8601 text, with the given separator between date and time. */
export function isoText(value: DateTime, separator = 'T'): string {
  const c = value.civil();
  const date = `${pad(c.year, 4)}-${pad(c.month, 2)}-${pad(c.day, 2)}`;
  const time = `${pad(c.hour, 2)}:${pad(c.minute, 2)}:${pad(c.second, 2)}`;
  const fraction = c.microsecond === 0 ? '' : `.${pad(c.microsecond, 6)}`;
  return `${date}${separator}${time}${fraction}${offsetText(value.offset)}`;
}

/** Python's `str(timedelta)`: `1 day, 2:00:00`. */
export function timeSpanText(span: TimeSpan): string {
  const days = floorDiv(span.microseconds, DAY);
  const rest = span.microseconds - days * DAY;
  const seconds = Number(rest / 1_000_000n);
  const micro = Number(rest % 1_000_000n);
  const time = `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`;
  const fraction = micro === 0 ? '' : `.${pad(micro, 6)}`;
  const dayText = days === 0n ? '' : `${days} day${days === 1n || days === -1n ? '' : 's'}, `;
  return `${dayText}${time}${fraction}`;
}

/** The three fields Python keeps: days, seconds and microseconds, only days negative. */
export function timeSpanFields(span: TimeSpan): { days: bigint; seconds: number; microseconds: number } {
  const days = floorDiv(span.microseconds, DAY);
  const rest = span.microseconds - days * DAY;
  return { days, seconds: Number(rest / 1_000_000n), microseconds: Number(rest % 1_000_000n) };
}

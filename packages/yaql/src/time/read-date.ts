import { valueError } from '../errors.ts';
import { type DateMembers, WrittenDate } from './date-members.ts';
import { dateTokens } from './date-tokens.ts';
import { dayNames, monthNames, short } from './names.ts';

/** The parts of a date and time that a text contains; others are undefined. */
export interface DateReading {
  readonly year: number | undefined;
  readonly month: number | undefined;
  readonly day: number | undefined;
  /** Monday is 0. */
  readonly weekday: number | undefined;
  readonly hour: number | undefined;
  readonly minute: number | undefined;
  readonly second: number | undefined;
  readonly microsecond: number | undefined;
  /** Seconds east of UTC. */
  readonly zone: number | undefined;
}

const table = (rows: readonly (readonly string[])[]): ReadonlyMap<string, number> =>
  new Map(rows.flatMap((row, index) => row.map((name) => [name.toLowerCase(), index] as const)));

/** Words and marks without a meaning. */
const fillers = table([
  [' ', '.', ',', ';', '-', '/', "'", 'at', 'on', 'and', 'ad', 'm', 't', 'of', 'st', 'nd', 'rd', 'th'],
]);
const weekdays = table(dayNames.map((name) => [short(name), name]));
const months = table(monthNames.map((name) => [short(name), name, ...(name === 'September' ? ['Sept'] : [])]));
const HOUR = 0;
const MINUTE = 1;
const SECOND = 2;
const units = table([
  ['h', 'hour', 'hours'],
  ['m', 'minute', 'minutes'],
  ['s', 'second', 'seconds'],
]);
const halves = table([
  ['am', 'a'],
  ['pm', 'p'],
]);
const utcNames = new Set(['utc', 'gmt', 'z']);

const lookUp = (names: ReadonlyMap<string, number>, token: string | undefined): number | undefined =>
  token === undefined ? undefined : names.get(token.toLowerCase());
const isFiller = (token: string | undefined): boolean => lookUp(fillers, token) !== undefined;
const isNumber = (token: string): boolean =>
  /^[0-9]+(?:\.[0-9]*)?$/.test(token) || /^(?:nan|inf|infinity)$/i.test(token);
const isDigits = (token: string): boolean => /^[0-9]+$/.test(token);

/** `int(token)` of a token of digits, points and letters. */
function whole(token: string): number {
  if (!isDigits(token)) throw valueError(`${token} is not a whole number`);
  return Number(token);
}

/** Whole part and fraction of a number; the fraction in exact sixtieths, rounded down, undefined when there is none. */
function decimal(token: string): {
  readonly value: number;
  readonly integer: number;
  readonly sixtieths: number | undefined;
} {
  const found = /^([0-9]+)(?:\.([0-9]*))?$/.exec(token);
  if (found === null) throw valueError(`${token} is not a decimal number`);
  const [, integer = '', fraction = ''] = found;
  const sixtieths = /[1-9]/.test(fraction)
    ? Number((60n * BigInt(fraction)) / 10n ** BigInt(fraction.length))
    : undefined;
  return { value: Number(token), integer: Number(integer), sixtieths };
}

/**
 * Reads a date token by token, as `dateutil` does. `thisYear` is asked for when a year has two digits. ValueError for
 * unreadable text.
 */
export function readDate(text: string, thisYear: () => number): DateReading {
  return new DateReader(dateTokens(text), thisYear).read();
}

class DateReader {
  readonly #tokens: string[];
  readonly #thisYear: () => number;
  readonly #date = new WrittenDate();
  #weekday: number | undefined;
  #hour: number | undefined;
  #minute: number | undefined;
  #second: number | undefined;
  #microsecond: number | undefined;
  #zoneName: string | undefined;
  #zone: number | undefined;

  constructor(tokens: string[], thisYear: () => number) {
    this.#tokens = tokens;
    this.#thisYear = thisYear;
  }

  read(): DateReading {
    for (let at = 0; at < this.#tokens.length; ) at = this.#readToken(at);
    const members: DateMembers = this.#date.resolve();
    const weekday = this.#weekday;
    const hour = this.#hour;
    const minute = this.#minute;
    const second = this.#second;
    const microsecond = this.#microsecond;
    const year = members.year === undefined || this.#date.centuryGiven ? members.year : this.#withCentury(members.year);
    if (this.#zoneName !== undefined && utcNames.has(this.#zoneName.toLowerCase())) this.#zone = 0;
    // An unknown name of a zone still makes the text a non-empty date.
    const zone = this.#zone ?? (this.#zoneName === undefined ? undefined : 0);
    return { year, month: members.month, day: members.day, weekday, hour, minute, second, microsecond, zone };
  }

  /** The token at an index. ValueError behind the last. */
  #token(at: number): string {
    const token = this.#tokens[at];
    if (token === undefined) throw valueError('the text ends too soon');
    return token;
  }

  /** Reads the part that begins at a token; returns the index of the next. */
  #readToken(at: number): number {
    const token = this.#token(at);
    if (isNumber(token)) return this.#readNumber(at) + 1;
    const weekday = lookUp(weekdays, token);
    if (weekday !== undefined) {
      this.#weekday = weekday;
      return at + 1;
    }
    const month = lookUp(months, token);
    if (month !== undefined) return this.#readAfterMonth(at, month + 1) + 1;
    const half = lookUp(halves, token);
    if (half !== undefined) {
      if (this.#hour === undefined || this.#hour > 12) throw valueError('no hour of a 12-hour clock before am or pm');
      this.#hour = inHalf(this.#hour, half);
      return at + 1;
    }
    if (this.#mayBeZoneName(token, this.#zone)) return this.#readZoneName(at, token) + 1;
    if (this.#hour !== undefined && (token === '+' || token === '-')) return this.#readOffset(at) + 1;
    if (!isFiller(token)) throw valueError('Unknown string format');
    return at + 1;
  }

  #readAfterMonth(at: number, month: number): number {
    this.#date.add(month, 'month');
    const separator = this.#tokens[at + 1];
    if (separator === '-' || separator === '/') {
      this.#date.add(this.#token(at + 2));
      if (this.#tokens[at + 3] !== separator) return at + 2;
      this.#date.add(this.#token(at + 4));
      return at + 4;
    }
    const year = this.#tokens[at + 4];
    const of = this.#tokens[at + 2]?.toLowerCase() === 'of' && separator === ' ' && this.#tokens[at + 3] === ' ';
    if (year === undefined || !of) return at;
    if (isDigits(year)) this.#date.add(String(this.#withCentury(Number(year))), 'year');
    return at + 4;
  }

  #mayBeZoneName(token: string, zone: number | undefined): boolean {
    if (this.#hour === undefined || this.#zoneName !== undefined || zone !== undefined) return false;
    return /^[A-Z]{1,5}$/.test(token) || token === 'z';
  }

  #readZoneName(at: number, name: string): number {
    this.#zoneName = name;
    const isUtc = utcNames.has(name.toLowerCase());
    this.#zone = isUtc ? 0 : undefined;
    const sign = this.#tokens[at + 1];
    if (sign !== '+' && sign !== '-') return at;
    // `GMT+3` is meant as "my time plus 3 is GMT".
    this.#tokens[at + 1] = sign === '+' ? '-' : '+';
    this.#zone = undefined;
    if (isUtc) this.#zoneName = undefined;
    return at;
  }

  #readOffset(at: number): number {
    const sign = this.#token(at) === '+' ? 1 : -1;
    const digits = this.#token(at + 1);
    let last = at + 1;
    let hours: number;
    let minutes = 0;
    if (digits.length === 4) {
      hours = whole(digits.slice(0, 2));
      minutes = whole(digits.slice(2));
    } else if (this.#tokens[at + 2] === ':') {
      hours = whole(digits);
      minutes = whole(this.#token(at + 3));
      last = at + 3;
    } else if (digits.length <= 2) hours = whole(digits);
    else throw valueError('an offset is of two or four digits');
    this.#zone = sign * (hours * 3600 + minutes * 60);
    const [blank, open, name, close] = this.#tokens.slice(last + 1, last + 5);
    if (isFiller(blank) && open === '(' && close === ')' && name !== undefined && name.length >= 3) {
      if (!this.#mayBeZoneName(name, undefined)) return last;
      this.#zoneName = name;
      return last + 4;
    }
    return last;
  }

  /** Reads the part that begins with a number; returns the index of its last token. */
  #readNumber(at: number): number {
    const tokens = this.#tokens;
    const date = this.#date;
    const token = this.#token(at);
    const number = decimal(token);
    const { length } = token;
    const next = tokens[at + 1];
    const timeFollows = next === ':' || lookUp(units, next) !== undefined;
    if (date.size === 3 && (length === 2 || length === 4) && this.#hour === undefined && !timeFollows) {
      this.#hour = whole(token.slice(0, 2));
      if (length === 4) this.#minute = whole(token.slice(2));
      return at;
    }
    if (length === 6 || (length > 6 && token.indexOf('.') === 6)) {
      this.#readSix(token);
      return at;
    }
    if (length === 8 || length === 12 || length === 14) {
      this.#readCompact(token);
      return at;
    }
    const unit = this.#unitNear(at);
    if (unit !== null) {
      this.#assignUnit(unit.unit, token);
      return unit.last;
    }
    if (next === ':' && tokens[at + 2] !== undefined) return this.#readClock(at, number.integer);
    if (next === '-' || next === '/' || next === '.') return this.#readSeparated(at, next);
    if (next === undefined || isFiller(next)) {
      const half = lookUp(halves, tokens[at + 2]);
      if (half === undefined) {
        date.add(number.value);
        return at + 1;
      }
      this.#hour = inHalf(number.integer, half);
      return at + 2;
    }
    const half = lookUp(halves, next);
    if (half !== undefined && number.value < 24) {
      this.#hour = inHalf(number.integer, half);
      return at + 1;
    }
    if (!date.mayBeDay(number.value)) throw valueError('Unknown string format');
    date.add(number.value);
    return at;
  }

  /** `YYMMDD`, or `HHMMSS` with a fraction or after a date. */
  #readSix(token: string): void {
    if (this.#date.size === 0 && !token.includes('.')) {
      for (let at = 0; at < 6; at += 2) this.#date.add(token.slice(at, at + 2));
      return;
    }
    this.#hour = whole(token.slice(0, 2));
    this.#minute = whole(token.slice(2, 4));
    this.#readSeconds(token.slice(4));
  }

  /** `YYYYMMDD`, `YYYYMMDDhhmm`, `YYYYMMDDhhmmss`. */
  #readCompact(token: string): void {
    this.#date.add(token.slice(0, 4), 'year');
    this.#date.add(token.slice(4, 6));
    this.#date.add(token.slice(6, 8));
    if (token.length > 8) {
      this.#hour = whole(token.slice(8, 10));
      this.#minute = whole(token.slice(10, 12));
    }
    if (token.length > 12) this.#second = whole(token.slice(12));
  }

  /** `hh:mm`, `hh:mm:ss` and fractions. */
  #readClock(at: number, hour: number): number {
    this.#hour = hour;
    this.#readMinutes(this.#token(at + 2));
    if (this.#tokens[at + 3] !== ':' || this.#tokens[at + 4] === undefined) return at + 2;
    this.#readSeconds(this.#token(at + 4));
    return at + 4;
  }

  /** Numbers or a month's name between two of the same separators. */
  #readSeparated(at: number, separator: string): number {
    const tokens = this.#tokens;
    const date = this.#date;
    date.add(this.#token(at));
    const second = tokens[at + 2];
    if (second === undefined || isFiller(second)) return at + 1;
    if (isDigits(second)) date.add(second);
    else {
      const month = lookUp(months, second);
      if (month === undefined) throw valueError('Unknown string format');
      date.add(month + 1, 'month');
    }
    if (tokens[at + 3] !== separator) return at + 2;
    const third = this.#token(at + 4);
    const month = lookUp(months, third);
    if (month === undefined) date.add(third);
    else date.add(month + 1, 'month');
    return at + 4;
  }

  /** The unit of a number by a label after it or, lacking one, the unit below that of a label before it. */
  #unitNear(at: number): { readonly unit: number; readonly last: number } | null {
    const tokens = this.#tokens;
    const after = lookUp(units, tokens[at + 1]);
    if (after !== undefined) return { unit: after, last: at + 1 };
    const afterBlank = tokens[at + 1] === ' ' ? lookUp(units, tokens[at + 2]) : undefined;
    if (afterBlank !== undefined) return { unit: afterBlank, last: at + 2 };
    const before = lookUp(units, tokens[at - 1]);
    if (before !== undefined) return { unit: before + 1, last: at };
    const lastOfAll = at > 1 && at === tokens.length - 1 && tokens[at - 1] === ' ';
    const beforeBlank = lastOfAll ? lookUp(units, tokens[at - 2]) : undefined;
    return beforeBlank === undefined ? null : { unit: beforeBlank + 1, last: at };
  }

  #assignUnit(unit: number, token: string): void {
    if (unit === HOUR) {
      const { integer, sixtieths } = decimal(token);
      this.#hour = integer;
      if (sixtieths !== undefined) this.#minute = sixtieths;
    } else if (unit === MINUTE) this.#readMinutes(token);
    else if (unit === SECOND) this.#readSeconds(token);
  }

  #readMinutes(token: string): void {
    const { integer, sixtieths } = decimal(token);
    this.#minute = integer;
    this.#second = sixtieths;
  }

  #readSeconds(token: string): void {
    const [seconds = '', fraction, ...more] = token.split('.');
    if (more.length > 0) throw valueError('too many points');
    this.#second = whole(seconds);
    this.#microsecond = fraction === undefined ? 0 : whole(fraction.padEnd(6, '0').slice(0, 6));
  }

  /** A year of two digits is the one within fifty years from now. */
  #withCentury(year: number): number {
    if (year >= 100) return year;
    const now = this.#thisYear();
    const near = year + Math.floor(now / 100) * 100;
    if (near >= now + 50) return near - 100;
    return near < now - 50 ? near + 100 : near;
  }
}

const inHalf = (hour: number, half: number): number =>
  half === 1 && hour < 12 ? hour + 12 : half === 0 && hour === 12 ? 0 : hour;

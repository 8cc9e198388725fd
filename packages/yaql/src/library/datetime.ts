import { valueError, YaqlError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import { nullable, optional, p } from '../runtime/parameters.ts';
import { formatTime } from '../time/format.ts';
import { parseDate } from '../time/parse-date.ts';
import { parseTimeByFormat } from '../time/parse-format.ts';
import type { Value } from '../values/kind.ts';
import { float, type Integer, integer, isInteger, type Numeric, toDouble } from '../values/numbers.ts';
import { divideHalfEven, exactFraction } from '../values/rounding.ts';
import { type CivilTime, DateTime, TimeSpan } from '../values/time.ts';

const fn = chapterOf('datetime');
/** A field of a date, which the reference implementation keeps in a C int. */
function field(x: Integer): number {
  if (x > 2_147_483_647 || x < -2_147_483_648)
    throw new YaqlError('OverflowError', 'Python int too large to convert to C int');
  return Number(x);
}

const zero = new TimeSpan(0n);
const int = (name: string) => optional(p.int(name), 0);
const offset = () => optional(p.timespan('offset'), zero as Value);
const dt = () => p.datetime('dt');
const ts = () => p.timespan('ts');
const DAY = 86_400_000_000n;

/** Ten times the longest that any form needs. */
const LONGEST_DATE = 1_000;

const zoneOf = (span: Value): bigint => (span as TimeSpan).microseconds;

function fromTimestamp(timestamp: Numeric, span: Value): DateTime {
  let micro: bigint;
  if (isInteger(timestamp)) micro = BigInt(timestamp) * 1_000_000n;
  else {
    const x = toDouble(timestamp);
    if (Number.isNaN(x)) throw valueError('Invalid value NaN (not a number)');
    if (!Number.isFinite(x)) throw new YaqlError('OverflowError', 'cannot convert float infinity to integer');
    const whole = Math.trunc(x);
    // The fraction is scaled as a double first, as CPython does it.
    const { numerator, denominator } = exactFraction((x - whole) * 1e6);
    micro = BigInt(whole) * 1_000_000n + divideHalfEven(numerator, denominator);
  }
  if (micro > 9_223_372_036_854_775_807n * 1_000_000n || micro < -9_223_372_036_854_775_808n * 1_000_000n)
    throw new YaqlError('OverflowError', 'timestamp out of range for platform time_t');
  try {
    return new DateTime(micro, zoneOf(span));
  } catch (error) {
    throw error instanceof YaqlError && error.errorClass === 'OverflowError'
      ? valueError('year is out of range')
      : error;
  }
}

function scaled(span: TimeSpan, factor: Numeric): TimeSpan {
  if (isInteger(factor)) return new TimeSpan(span.microseconds * BigInt(factor));
  return TimeSpan.fromDouble(Number(span.microseconds) * toDouble(factor));
}

function divided(span: TimeSpan, divisor: Numeric): TimeSpan {
  const x = toDouble(divisor);
  if (x === 0) throw new YaqlError('ZeroDivisionError', 'division by zero');
  return TimeSpan.fromDouble(Number(span.microseconds) / x);
}

function replaceFields(value: DateTime, fields: readonly (Integer | Value)[], span: Value): DateTime {
  const c = value.civil();
  const given = (i: number, current: number): number => (fields[i] === null ? current : field(fields[i] as Integer));
  return DateTime.fromCivil(
    {
      year: given(0, c.year),
      month: given(1, c.month),
      day: given(2, c.day),
      hour: given(3, c.hour),
      minute: given(4, c.minute),
      second: given(5, c.second),
      microsecond: given(6, c.microsecond),
    },
    span === null ? value.zone : zoneOf(span),
  );
}

const replaced = (name: string) => optional(nullable(p.int(name)), null);

const compareAs = (sign: string, holds: (a: bigint, b: bigint) => boolean): FunctionDefinition[] => [
  fn(`#operator_${sign}`, 'function', [p.datetime('dt1'), p.datetime('dt2')], 'Compares instants.', (_, a, b) =>
    a.zone === b.zone ? holds(a.local, b.local) : holds(a.utc, b.utc),
  ),
  fn(`#operator_${sign}`, 'function', [p.timespan('ts1'), p.timespan('ts2')], 'Compares lengths of time.', (_, a, b) =>
    holds(a.microseconds, b.microseconds),
  ),
];

function clock(context: Context): bigint {
  const now = context.runtime.options.clock;
  if (now === undefined) throw valueError('No clock was given to the engine');
  return now();
}

/** The date that the local clock shows. */
function today(context: Context): CivilTime {
  return new DateTime(clock(context), context.runtime.options.localOffset ?? 0n).civil();
}

export const datetimeFunctions: readonly FunctionDefinition[] = [
  fn(
    'datetime',
    'function',
    [
      p.int('year'),
      p.int('month'),
      p.int('day'),
      int('hour'),
      int('minute'),
      int('second'),
      int('microsecond'),
      offset(),
    ],
    'Time of a date and a clock in a zone; ValueError for a field out of range.',
    (_, year, month, day, hour, minute, second, microsecond, span) =>
      DateTime.fromCivil(
        {
          year: field(year),
          month: field(month),
          day: field(day),
          hour: field(hour as Integer),
          minute: field(minute as Integer),
          second: field(second as Integer),
          microsecond: field(microsecond as Integer),
        },
        zoneOf(span),
      ),
  ),
  fn(
    'timespan',
    'function',
    [
      int('days'),
      int('hours'),
      int('minutes'),
      optional(p.integer('seconds'), 0),
      optional(p.integer('milliseconds'), 0),
      optional(p.integer('microseconds'), 0),
    ],
    'Length of time, of either sign; OverflowError beyond 999,999,999 days.',
    (_, days, hours, minutes, seconds, milliseconds, microseconds) => {
      const [d, h, m, s, ms, us] = [days, hours, minutes, seconds, milliseconds, microseconds].map((x) =>
        BigInt(x as Integer),
      ) as [bigint, bigint, bigint, bigint, bigint, bigint];
      return new TimeSpan(d * DAY + ((h * 60n + m) * 60n + s) * 1_000_000n + ms * 1000n + us);
    },
  ),
  fn(
    'datetime',
    'function',
    [p.number('timestamp'), offset()],
    'Time of seconds since 1970, in a zone.',
    (_, timestamp, span) => fromTimestamp(timestamp, span),
  ),
  fn(
    'datetime',
    'function',
    [p.string('string'), optional(nullable(p.string('format')), null)],
    'Time of a text: ISO 8601 or much else, or by a format of `strptime`; ParserError, ValueError, OverflowError.',
    (context, text, format) => {
      // Reading takes a time of the square of the length.
      for (const given of [text, format ?? ''] as readonly string[])
        if (given.length > LONGEST_DATE) throw valueError(`a date of more than ${LONGEST_DATE} characters`);
      return format === null || format === ''
        ? parseDate(text, () => today(context))
        : parseTimeByFormat(text, format as string);
    },
  ),
  fn(
    'now',
    'function',
    [optional(nullable(p.timespan('offset')), zero as Value)],
    'The current time in a zone; the engine needs a clock.',
    (context, span) => new DateTime(clock(context), span === null ? 0n : zoneOf(span)),
  ),
  fn(
    'localtz',
    'function',
    [],
    'Offset of the local zone.',
    (context) => new TimeSpan(context.runtime.options.localOffset ?? 0n),
  ),
  fn('utctz', 'function', [], 'Offset of UTC, which is zero.', () => zero),
  fn('#operator_+', 'function', [dt(), ts()], 'Time moved on by a length of time.', (_, a, b) =>
    a.plus(b.microseconds),
  ),
  fn('#operator_+', 'function', [ts(), dt()], 'Time moved on by a length of time.', (_, a, b) =>
    b.plus(a.microseconds),
  ),
  fn('#operator_-', 'function', [dt(), ts()], 'Time moved back by a length of time.', (_, a, b) =>
    a.plus(-b.microseconds),
  ),
  fn(
    '#operator_-',
    'function',
    [p.datetime('dt1'), p.datetime('dt2')],
    'Length of time between two instants.',
    (_, a, b) => new TimeSpan(a.zone === b.zone ? a.local - b.local : a.utc - b.utc),
  ),
  fn(
    '#operator_+',
    'function',
    [p.timespan('ts1'), p.timespan('ts2')],
    'Sum of two lengths of time.',
    (_, a, b) => new TimeSpan(a.microseconds + b.microseconds),
  ),
  fn(
    '#operator_-',
    'function',
    [p.timespan('ts1'), p.timespan('ts2')],
    'Difference of two lengths of time.',
    (_, a, b) => new TimeSpan(a.microseconds - b.microseconds),
  ),
  ...compareAs('>', (a, b) => a > b),
  ...compareAs('>=', (a, b) => a >= b),
  ...compareAs('<', (a, b) => a < b),
  ...compareAs('<=', (a, b) => a <= b),
  fn('#unary_operator_-', 'function', [ts()], 'The negative length of time.', (_, a) => new TimeSpan(-a.microseconds)),
  fn('#unary_operator_+', 'function', [ts()], 'The length of time itself.', (_, a) => a),
  fn(
    '#operator_*',
    'function',
    [ts(), p.number('n')],
    'Multiple of a length of time, rounded half to even.',
    (_, a, n) => scaled(a, n),
  ),
  fn(
    '#operator_*',
    'function',
    [p.number('n'), ts()],
    'Multiple of a length of time, rounded half to even.',
    (_, n, a) => scaled(a, n),
  ),
  fn(
    '#operator_/',
    'function',
    [p.timespan('ts1'), p.timespan('ts2')],
    'Ratio of two lengths of time, a float.',
    (_, a, b) => {
      if (b.microseconds === 0n) throw new YaqlError('ZeroDivisionError', 'float division by zero');
      return float(Number(a.microseconds) / Number(b.microseconds));
    },
  ),
  fn('#operator_/', 'function', [ts(), p.number('n')], 'Part of a length of time, rounded half to even.', (_, a, n) =>
    divided(a, n),
  ),
  fn(
    'replace',
    'method',
    [
      dt(),
      replaced('year'),
      replaced('month'),
      replaced('day'),
      replaced('hour'),
      replaced('minute'),
      replaced('second'),
      replaced('microsecond'),
      optional(nullable(p.timespan('offset')), null),
    ],
    'The time with other fields, or in another zone with the same clock time.',
    (_, value, ...fields) => replaceFields(value, fields.slice(0, 7) as Value[], fields[7] as Value),
  ),
  fn('format', 'method', [dt(), p.string('format')], 'Text by a format of `strftime`.', (context, value, format) => {
    context.runtime.checkLength(format.length * 10);
    return formatTime(value, format);
  }),
  fn(
    'isDatetime',
    'function',
    [p.any('value')],
    'Whether the value is a time.',
    (_, value) => value instanceof DateTime,
  ),
  fn(
    'isTimespan',
    'function',
    [p.any('value')],
    'Whether the value is a length of time.',
    (_, value) => value instanceof TimeSpan,
  ),
  ...properties(),
];

/** `value.name`, by way of `#property#name`. */
function properties(): FunctionDefinition[] {
  const span = (name: string, unit: number, documentation: string): FunctionDefinition =>
    fn(`#property#${name}`, 'function', [p.timespan('obj')], documentation, (_, value) =>
      float(Number(value.microseconds) / unit),
    );
  const time = (name: string, documentation: string, of: (value: DateTime) => Value): FunctionDefinition =>
    fn(`#property#${name}`, 'function', [p.datetime('obj')], documentation, (_, value) => of(value));
  const date = (value: DateTime): DateTime =>
    DateTime.fromCivil({ ...value.civil(), hour: 0, minute: 0, second: 0, microsecond: 0 }, value.zone);
  const utc = (value: DateTime): DateTime => value.plus(-value.offset);
  return [
    fn(
      '#property#microseconds',
      'function',
      [p.timespan('obj')],
      'The whole length in microseconds, an integer.',
      (_, value) => integer(value.microseconds),
    ),
    span('milliseconds', 1000, 'The whole length in milliseconds.'),
    span('seconds', 1e6, 'The whole length in seconds.'),
    span('minutes', 6e7, 'The whole length in minutes.'),
    span('hours', 3.6e9, 'The whole length in hours.'),
    span('days', 8.64e10, 'The whole length in days.'),
    time('year', 'Year.', (value) => value.civil().year),
    time('month', 'Month, from 1.', (value) => value.civil().month),
    time('day', 'Day of the month.', (value) => value.civil().day),
    time('hour', 'Hour.', (value) => value.civil().hour),
    time('minute', 'Minute.', (value) => value.civil().minute),
    time('second', 'Second.', (value) => value.civil().second),
    time('microsecond', 'Microsecond.', (value) => value.civil().microsecond),
    time('weekday', 'Day of the week; Monday is 0.', (value) => value.weekday()),
    time('offset', 'Offset of the zone.', (value) => new TimeSpan(value.offset)),
    time('utc', 'The clock time of UTC, in the same zone as before.', utc),
    // As in the reference implementation, the offset is taken off twice.
    time('timestamp', 'Seconds between 1970 and `utc`, a float.', (value) => float(Number(`${utc(value).utc}e-6`))),
    time('date', 'Start of the day.', date),
    time(
      'time',
      'Length of time since the start of the day.',
      (value) => new TimeSpan(value.local - date(value).local),
    ),
  ];
}

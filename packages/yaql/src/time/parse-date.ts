import { YaqlError } from '../errors.ts';
import { type CivilTime, DateTime, daysInMonth } from '../values/time.ts';
import { type DateReading, readDate } from './read-date.ts';

/** Today; missing parts of a date are taken from it. */
type Today = () => { readonly year: number; readonly month: number; readonly day: number };

const maxCInt = 2_147_483_647;
const DAY = 86_400_000_000n;

/**
 * Parses a date and time without a format like `dateutil` 2.9: ISO 8601 and many other formats, month before day.
 * Missing parts are those of today at midnight; the default zone is UTC. Throws ParserError for text that is not a date,
 * OverflowError for numbers beyond a C int and dates beyond the calendar.
 */
export function parseDate(text: string, today: Today): DateTime {
  const reading = refusingAs(text, () => readDate(text, () => today().year));
  const { weekday, zone, ...fields } = reading;
  if (Object.values(reading).every((value) => value === undefined))
    throw parserError('String does not contain a date', text);
  const given = Object.values(fields).filter((value) => value !== undefined);
  const tooLarge = given.some((value) => value > maxCInt);
  let date: DateTime;
  if (tooLarge && fields.day !== undefined) throw overflow();
  const civil = refusingAs(text, () => completed(fields, today));
  if (tooLarge) throw overflow();
  date = refusingAs(text, () => DateTime.fromCivil(civil, 0n));
  if (weekday !== undefined && !fields.day) date = date.plus(BigInt((7 - date.weekday() + weekday) % 7) * DAY);
  const offset = BigInt(zone ?? 0) * 1_000_000n;
  return new DateTime(date.local - offset, offset);
}

const overflow = (): YaqlError => new YaqlError('OverflowError', 'signed integer is greater than maximum');

/** The day of a month that has fewer days than today's number is its last. */
function completed(fields: Omit<DateReading, 'weekday' | 'zone'>, today: Today): CivilTime {
  const { hour = 0, minute = 0, second = 0, microsecond = 0 } = fields;
  const year = fields.year ?? today().year;
  const month = fields.month ?? today().month;
  if (fields.day === undefined && !(month >= 1 && month <= 12))
    throw new YaqlError('ValueError', 'bad month number; must be 1-12');
  const day = fields.day ?? Math.min(today().day, daysInMonth(year, month));
  return { year, month, day, hour, minute, second, microsecond };
}

const parserError = (message: string, text: string): YaqlError =>
  new YaqlError('ParserError', `${message}: ${text.slice(0, 100)}`);

function refusingAs<T>(text: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof YaqlError && error.errorClass === 'ValueError') throw parserError(error.message, text);
    throw error;
  }
}

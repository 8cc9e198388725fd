import { YaqlError } from '../errors.js';
import { type CivilTime, DateTime } from '../values/time.js';
import { monthNames, short } from './names.js';

const months = monthNames.flatMap((name) => [name, short(name)]).join('|');
const days = '(?:mon|tue|tues|wed|wednes|thu|thurs|thur|fri|sat|satur|sun)(?:day)?';

const time =
  '(?<hour>\\d{1,2})(?::(?<minute>\\d{1,2})(?::(?<second>\\d{1,2})(?:[.,](?<fraction>\\d{1,9}))?)?)?\\s*(?<half>am|pm|a\\.m\\.|p\\.m\\.)?';
const compactTime = '(?<chour>\\d{2})(?<cminute>\\d{2})(?:(?<csecond>\\d{2})(?:[.,](?<cfraction>\\d{1,9}))?)?';
const zone = '\\s*(?<zone>z|utc|gmt|[+-]\\d{2}(?::?\\d{2})?(?::?\\d{2})?)?';

/** Dates the way `dateutil` reads them without guessing: year first; with a month's name; American with slashes. */
const dates = [
  '(?<year>\\d{4})-(?<month>\\d{1,2})-(?<day>\\d{1,2})',
  '(?<year>\\d{4})/(?<month>\\d{1,2})/(?<day>\\d{1,2})',
  '(?<year>\\d{4})\\.(?<month>\\d{1,2})\\.(?<day>\\d{1,2})',
  '(?<year>\\d{4})(?<month>\\d{2})(?<day>\\d{2})',
  `(?:${days},?\\s+)?(?<day>\\d{1,2})(?:st|nd|rd|th)?[\\s-]+(?<name>${months})\\.?,?[\\s-]+(?<year>\\d{4})`,
  `(?:${days},?\\s+)?(?<name>${months})\\.?\\s+(?<day>\\d{1,2})(?:st|nd|rd|th)?,?\\s+(?<year>\\d{4})`,
  '(?<month>\\d{1,2})/(?<day>\\d{1,2})/(?<year>\\d{4})',
];
const patterns = dates.flatMap((date) => [
  new RegExp(`^\\s*${date}(?:(?:[t\\s]|,\\s)\\s*${time}${zone})?\\s*$`, 'i'),
  new RegExp(`^\\s*${date}t${compactTime}${zone}\\s*$`, 'i'),
]);
patterns.push(/^\s*(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})(?<chour>\d{2})(?<cminute>\d{2})(?<csecond>\d{2})?\s*$/);

/**
 * Parses a date and time without a format: ISO 8601 and a few unambiguous relatives; without a zone it is UTC.
 * `dateutil` guesses at many more; they are refused here, with its class of error, ParserError.
 */
export function parseDate(text: string): DateTime {
  // The patterns are linear, but nothing that long is a date.
  if (text.length > 100) throw parserError(text);
  for (const pattern of patterns) {
    const found = pattern.exec(text);
    if (found !== null) return assemble(text, found.groups as Record<string, string | undefined>);
  }
  throw parserError(text);
}

const parserError = (text: string): YaqlError =>
  new YaqlError('ParserError', `Unknown string format: ${text.slice(0, 100)}`);

function assemble(text: string, f: Record<string, string | undefined>): DateTime {
  let month = Number(f.month ?? 0);
  let day = Number(f.day);
  if (f.name !== undefined)
    month = monthNames.findIndex((n) => short(n).toLowerCase() === short(f.name as string).toLowerCase()) + 1;
  // `31/12/2016` can only be meant the other way round.
  else if (month > 12 && day <= 12 && text.includes('/')) [month, day] = [day, month];
  let hour = Number(f.hour ?? f.chour ?? 0);
  if (f.hour !== undefined && f.minute === undefined && f.half === undefined && !/\dt\d/i.test(text))
    throw parserError(text);
  if (f.half !== undefined) {
    if (hour < 1 || hour > 12) throw parserError(text);
    hour = (hour % 12) + (f.half.toLowerCase().startsWith('p') ? 12 : 0);
  }
  const fraction = (f.fraction ?? f.cfraction ?? '').padEnd(6, '0').slice(0, 6);
  const civil: CivilTime = {
    year: Number(f.year),
    month,
    day,
    hour,
    minute: Number(f.minute ?? f.cminute ?? 0),
    second: Number(f.second ?? f.csecond ?? 0),
    microsecond: Number(fraction),
  };
  try {
    return DateTime.fromCivil(civil, zoneOffset(f.zone));
  } catch (error) {
    if (error instanceof YaqlError && error.errorClass === 'ValueError')
      throw new YaqlError('ParserError', error.message);
    throw error;
  }
}

function zoneOffset(zoneText: string | undefined): bigint {
  if (zoneText === undefined || /^[a-z]/i.test(zoneText)) return 0n;
  const [, sign, hours, minutes = '0', seconds = '0'] = /^([+-])(\d{2}):?(\d{2})?:?(\d{2})?$/.exec(zoneText) ?? [];
  const total = BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1_000_000n;
  return sign === '-' ? -total : total;
}

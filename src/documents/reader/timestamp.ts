// The forms that PyYAML's resolver reads as dates and times.
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(?:Z|([-+])(\d\d?)(?::(\d\d))?))?$/;

/**
 * Reads a plain scalar as a YAML 1.1 date or time: ISO 8601 text (times in UTC, without zone),
 * `'impossible'` for a date that does not exist, undefined for any other text.
 */
export function readTimestamp(text: string): string | 'impossible' | undefined {
  const date = DATE.exec(text);
  if (date) return isDate(Number(date[1]), Number(date[2]), Number(date[3])) ? text : 'impossible';
  const time = DATE_TIME.exec(text);
  if (!time) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = time.slice(1, 7).map(Number);
  const [offsetHours, offsetMinutes] = [Number(time[9] ?? 0), Number(time[10] ?? 0)];
  if (!isDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return 'impossible';
  if (offsetHours > 23 || offsetMinutes > 59) return 'impossible';
  const fraction = (time[7] ?? '').slice(0, 6).padEnd(6, '0');
  const offset = (time[8] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes);
  const utc = new Date(0);
  utc.setUTCFullYear(year, month - 1, day);
  utc.setUTCHours(hour, minute - offset, second);
  return utc.toISOString().slice(0, 19) + (Number(fraction) === 0 ? '' : `.${fraction}`);
}

function isDate(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
}

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

function directive(letter: string, value: DateTime, c: CivilTime, weekday: number, flags: string): string | null {
  const number = (n: number, width: number, filler = '0'): string => {
    const flag = flags.replace(/[\^#]/g, '').at(-1);
    if (flag === '-') return String(n);
    return String(n).padStart(width, flag === '_' ? ' ' : flag === '0' ? '0' : filler);
  };
  const again = (pattern: string): string => formatTime(value, pattern);
  const hour12 = c.hour % 12 === 0 ? 12 : c.hour % 12;
  const yearDay = daysFromCivil(c.year, c.month, c.day) - daysFromCivil(c.year, 1, 1) + 1;
  switch (letter) {
    case '%':
      return '%';
    case 'a':
      return short(dayNames[weekday] as string);
    case 'A':
      return dayNames[weekday] as string;
    case 'b':
    case 'h':
      return short(monthNames[c.month - 1] as string);
    case 'B':
      return monthNames[c.month - 1] as string;
    case 'c':
      return again('%a %b %e %H:%M:%S %Y');
    case 'C':
      return number(Math.floor(c.year / 100), 1);
    case 'd':
      return number(c.day, 2);
    case 'D':
    case 'x':
      return again('%m/%d/%y');
    case 'e':
      return number(c.day, 2, ' ');
    case 'f':
      return String(c.microsecond).padStart(6, '0');
    case 'F':
      return again('%Y-%m-%d');
    case 'g':
      return number(isoWeek(c, weekday).year % 100, 2);
    case 'G':
      return number(isoWeek(c, weekday).year, 1);
    case 'H':
      return number(c.hour, 2);
    case 'I':
      return number(hour12, 2);
    case 'j':
      return number(yearDay, 3);
    case 'k':
      return number(c.hour, 2, ' ');
    case 'l':
      return number(hour12, 2, ' ');
    case 'm':
      return number(c.month, 2);
    case 'M':
      return number(c.minute, 2);
    case 'n':
      return '\n';
    case 'p':
      return c.hour < 12 ? 'AM' : 'PM';
    case 'P':
      return c.hour < 12 ? 'am' : 'pm';
    case 'r':
      return again('%I:%M:%S %p');
    case 'R':
      return again('%H:%M');
    case 's':
      return String(value.local / 1_000_000n);
    case 'S':
      return number(c.second, 2);
    case 't':
      return '\t';
    case 'T':
    case 'X':
      return again('%H:%M:%S');
    case 'u':
      return String(weekday + 1);
    case 'U':
      return number(Math.floor((yearDay + 6 - ((weekday + 1) % 7)) / 7), 2);
    case 'V':
      return number(isoWeek(c, weekday).week, 2);
    case 'w':
      return String((weekday + 1) % 7);
    case 'W':
      return number(Math.floor((yearDay + 6 - weekday) / 7), 2);
    case 'y':
      return number(c.year % 100, 2);
    case 'Y':
      return number(c.year, 1);
    case 'z':
      return offsetText(value.offset, '');
    case 'Z':
      return value.offset === 0n ? 'UTC' : '';
    default:
      return null;
  }
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

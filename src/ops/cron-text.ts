import { type CalendarSpecDescription, DAYS_OF_WEEK, MONTHS, type ScheduleSpecDescription } from '@temporalio/client';

/** When a schedule is due, as lines of cron: a calendar as five fields (six with a year, seven with seconds), an interval as `@every`. */
export const cronOf = ({ calendars = [], intervals = [] }: ScheduleSpecDescription): string[] => [
  ...calendars.map(lineOf),
  ...intervals.map(({ every, offset }) => `@every ${secondsOf(every)}${offset > 0 ? `/${secondsOf(offset)}` : ''}`),
];

const secondsOf = (ms: number): string => `${ms / 1000}s`;

interface Range<Unit> {
  readonly start: Unit;
  readonly end: Unit;
  readonly step: number;
}

function lineOf({ second, minute, hour, dayOfMonth, month, dayOfWeek, year }: CalendarSpecDescription): string {
  const days = dayOfWeek.map(numbered(DAYS_OF_WEEK, 0));
  const months = month.map(numbered(MONTHS, 1));
  const five = [
    field(minute, 0, 59),
    field(hour, 0, 23),
    field(dayOfMonth, 1, 31),
    field(months, 1, 12),
    field(days, 0, 6),
  ];
  const seconds = field(second, 0, 59);
  const years = year.length === 0 ? '*' : field(year, 0, Number.POSITIVE_INFINITY);
  if (seconds !== '0') return [seconds, ...five, years].join(' ');
  return years === '*' ? five.join(' ') : [...five, years].join(' ');
}

const numbered =
  <Name extends string>(names: readonly Name[], first: number) =>
  ({ start, end, step }: Range<Name>): Range<number> => ({
    start: names.indexOf(start) + first,
    end: names.indexOf(end) + first,
    step,
  });

const field = (ranges: readonly Range<number>[], first: number, last: number): string =>
  ranges
    .map(({ start, end, step }) => {
      const range = start === first && end === last ? '*' : start === end ? `${start}` : `${start}-${end}`;
      return step > 1 && start !== end ? `${range}/${step}` : range;
    })
    .join(',');

import { expect, it } from 'vitest';
import { cronOf } from '../../../src/ops/cron-text.ts';

const one = <T>(start: T, end: T = start, step = 1) => ({ start, end, step });
const calendar = {
  second: [one(0)],
  minute: [one(0, 59)],
  hour: [one(0, 23)],
  dayOfMonth: [one(1, 31)],
  month: [one('JANUARY' as const, 'DECEMBER' as const)],
  dayOfWeek: [one('SUNDAY' as const, 'SATURDAY' as const)],
  year: [],
};

it.each([
  [{}, '* * * * *'],
  [{ minute: [one(0, 59, 15)], hour: [one(8, 17), one(20)] }, '*/15 8-17,20 * * *'],
  [{ month: [one('MARCH' as const)], dayOfWeek: [one('MONDAY' as const, 'FRIDAY' as const, 2)] }, '* * * 3 1-5/2'],
  [{ year: [one(2027)] }, '* * * * * 2027'],
  [{ second: [one(30)] }, '30 * * * * * *'],
])('a calendar with %j is %s', (fields, text) => {
  expect(cronOf({ calendars: [{ ...calendar, ...fields }] })).toEqual([text]);
});

it('an interval is @every, with its offset', () => {
  expect(
    cronOf({
      intervals: [
        { every: 3_600_000, offset: 0 },
        { every: 60_000, offset: 5_000 },
      ],
    }),
  ).toEqual(['@every 3600s', '@every 60s/5s']);
});

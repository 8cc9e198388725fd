import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closedAt } from '../../../../src/core/permits/calendar.ts';
import { DAYS, daysIn, type Freeze, minutesIn, type Window } from '../../../../src/core/permits/limits.ts';
import { zoneOffset } from '../../../../src/runs/zone-offset.ts';

const ZONES = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia'] as const;
const at = (time: string): number => Date.parse(time);
const closed = (limits: { windows?: readonly Window[]; freezes?: readonly Freeze[] }, time: string) =>
  closedAt({ windows: [], freezes: [], ...limits }, at(time), zoneOffset);
const iso = (ms: number | null | undefined): string | undefined =>
  typeof ms === 'number' ? new Date(ms).toISOString() : undefined;

describe('the calendar of limits', () => {
  it('is open without windows and freezes', () => {
    expect(closed({}, '2026-12-24T12:00:00Z')).toBeNull();
  });

  it('keeps the last day of a freeze frozen to its end, in its zone', () => {
    const freezes = [{ from: '2026-12-20', to: '2027-01-05', zone: 'Europe/Berlin', why: 'year end' }];
    expect(closed({ freezes }, '2026-12-19T22:59:59Z')).toBeNull();
    const first = closed({ freezes }, '2026-12-19T23:00:00Z');
    expect(first).toMatchObject({ kind: 'freeze', freeze: { why: 'year end' } });
    expect(iso(first?.until)).toBe('2027-01-05T23:00:00.000Z');
    expect(closed({ freezes }, '2027-01-05T22:59:59Z')).not.toBeNull();
    expect(closed({ freezes }, '2027-01-05T23:00:00Z')).toBeNull();
  });

  it('lets a window that ends after midnight belong to the day on which it begins', () => {
    const windows = [{ days: daysIn('mon-thu')!, from: minutesIn('22:00')!, to: minutesIn('05:00')!, zone: 'UTC' }];
    // 2026-11-26 is a Thursday.
    expect(closed({ windows }, '2026-11-27T04:59:59Z')).toBeNull();
    expect(iso(closed({ windows }, '2026-11-27T05:00:00Z')?.until)).toBe('2026-11-30T22:00:00.000Z');
    expect(iso(closed({ windows }, '2026-11-26T21:59:59Z')?.until)).toBe('2026-11-26T22:00:00.000Z');
  });

  it('names the freeze that closes it now, and the window after it', () => {
    const windows = [{ days: DAYS, from: minutesIn('22:00')!, to: minutesIn('23:00')!, zone: 'UTC' }];
    const freezes = [
      { from: '2026-12-01', to: '2026-12-02', zone: 'UTC', why: 'a' },
      { from: '2026-12-02', to: '2026-12-03', zone: 'UTC', why: 'b' },
    ];
    const found = closed({ windows, freezes }, '2026-12-01T22:30:00Z');
    expect(found).toMatchObject({ kind: 'freeze', freeze: { why: 'a' } });
    expect(iso(found?.until)).toBe('2026-12-04T22:00:00.000Z');
  });

  const windows = fc.array(
    fc.record({
      days: fc.subarray([...DAYS], { minLength: 1 }),
      from: fc.integer({ min: 0, max: 1440 }),
      to: fc.integer({ min: 0, max: 1440 }),
      zone: fc.constantFrom(...ZONES),
    }),
    { maxLength: 3 },
  );
  // Around the days on which clocks are moved.
  const starts = fc
    .constantFrom('2026-03-27T00:00:00Z', '2026-10-23T00:00:00Z', '2026-04-02T00:00:00Z', '2026-11-28T00:00:00Z')
    .chain((from) => fc.integer({ min: 0, max: 5 * 1440 }).map((minutes) => at(from) + minutes * 60_000));
  const freezes = fc.array(
    fc
      .record({ day: starts, days: fc.integer({ min: 0, max: 3 }), zone: fc.constantFrom(...ZONES) })
      .map(({ day, days, zone }) => ({
        ...{ from: new Date(day).toISOString().slice(0, 10), zone },
        to: new Date(day + days * 86_400_000).toISOString().slice(0, 10),
      })),
    { maxLength: 2 },
  );

  it('opens at the first minute that it says, and at none before', () => {
    fc.assert(
      fc.property(windows, freezes, starts, (ofWeek, ofYear, now) => {
        const limits = { windows: ofWeek, freezes: ofYear };
        const found = closedAt(limits, now, zoneOffset);
        if (found === null) return;
        expect(found.until).not.toBeNull();
        expect(closedAt(limits, found.until!, zoneOffset)).toBeNull();
        const step = Math.max(60_000, Math.floor((found.until! - now) / 200 / 60_000) * 60_000);
        for (let time = now; time < found.until!; time += step)
          expect(closedAt(limits, time, zoneOffset)).toMatchObject({ until: found.until });
      }),
    );
  });

  it.each([
    ['mon', ['mon']],
    ['fri, sat', ['fri', 'sat']],
    ['sat-mon', ['mon', 'sat', 'sun']],
    ['mon-', undefined],
    ['monday', undefined],
    ['mon-tue-wed', undefined],
    ['', undefined],
  ])('reads the days %j', (text, days) => {
    expect(daysIn(text)).toEqual(days);
  });

  it.each([
    ['00:00', 0],
    ['22:05', 1325],
    ['24:00', 1440],
    ['24:01', undefined],
    ['22:60', undefined],
    ['9:00', undefined],
    ['22:00:00', undefined],
    ['+1:00', undefined],
  ])('reads the time of day %j', (text, minutes) => {
    expect(minutesIn(text)).toBe(minutes);
  });
});

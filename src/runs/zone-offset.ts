import type { ZoneOffset } from '../core/permits/calendar.ts';

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** By the database of time zones that comes with Node.js. */
export const zoneOffset: ZoneOffset = (zone, at) => {
  let format = FORMATS.get(zone);
  if (format === undefined) {
    const numeric = 'numeric' as const;
    format = new Intl.DateTimeFormat('en', {
      ...{ timeZone: zone, hourCycle: 'h23' },
      ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
    });
    FORMATS.set(zone, format);
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return Math.round((shown - Math.floor(at / 1000) * 1000) / 60_000);
};

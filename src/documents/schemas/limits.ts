import { z } from 'zod';
import { DAYS, daysIn, type Limits, minutesIn } from '../../core/permits/limits.ts';
import { PERCENTAGE } from '../../core/rollout/policy.ts';
import { readTimestamp } from '../reader/timestamp.ts';

/** Documents have no more of each. */
const MOST = 100;

const atMost = z
  .union([z.int().min(1), z.string().regex(PERCENTAGE)], {
    error: 'must be a number of machines above 0, or a percentage from "1%" to "100%"',
  })
  .describe('A number of machines, or a percentage of those of the site or rack: rounded down, at least one.');

const outOfService = z.strictObject({
  per: z.enum(['site', 'rack']).describe('What the number is of.'),
  at_most: atMost,
});

const atOnceSchema = z
  .strictObject({
    per: z.enum(['site', 'rack', 'maas']).describe('What the number is of. `maas`: all sites of the installation.'),
    deploying: z.int().min(1).describe('So many machines are deployed at a time.').optional(),
    requests: z
      .int()
      .min(1)
      .describe('MAAS works on so many machines at a time: they are prepared, deployed or released.')
      .optional(),
  })
  .refine(({ deploying, requests }) => (deploying ?? requests) !== undefined, {
    error: 'must have deploying or requests',
  });

const zone = z
  .string()
  .refine(isZone, { error: 'must be a time zone of the IANA database such as Europe/Berlin or UTC' })
  .describe('Time zone, by its name in the IANA database. Default: UTC.')
  .optional();

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const timeOfDay = (what: string) =>
  z
    .string({ error: 'must be a time of day in quotes such as "22:00"' })
    .refine((text) => minutesIn(text) !== undefined, { error: 'must be a time of day such as "22:00"' })
    .describe(what);

const windowSchema = z.strictObject({
  days: z
    .string()
    .refine((text) => daysIn(text) !== undefined, {
      error: `must be days such as "mon-thu" or "fri,sat", of ${DAYS.join(', ')}`,
    })
    .describe('Days on which it begins: `mon-thu`, `fri,sat`. Default: every day.')
    .optional(),
  from: timeOfDay('When it begins: "22:00".'),
  to: timeOfDay('When it ends; on the next day, unless that is later than `from`.'),
  zone,
});

const date = (what: string) =>
  z
    .string({ error: 'must be a day such as 2026-12-20' })
    .refine((text) => text.length === 10 && readTimestamp(text) === text, {
      error: 'must be a day such as 2026-12-20',
    })
    .describe(what);

const freezeSchema = z
  .strictObject({
    from: date('First day.'),
    to: date('Last day; no work begins before its end.'),
    zone,
    why: z.string().min(1).max(200).describe('What people who wait are shown.').optional(),
  })
  .refine(({ from, to }) => from <= to, { error: 'must end on the day on which it begins, or later', path: ['to'] });

/** `data` of sitewright/Limits/v1. */
export const limitsSchema = z
  .strictObject({
    out_of_service: z
      .array(outOfService)
      .max(MOST)
      .describe('Machines that may be out of service: those that are broken, in maintenance or being changed.')
      .optional(),
    at_once: z
      .array(atOnceSchema)
      .max(MOST)
      .describe('Machines that may be deployed, or that MAAS may work on, at a time.')
      .optional(),
    windows: z
      .array(windowSchema)
      .max(MOST)
      .describe('When work on a machine may begin. Default: at any time.')
      .optional(),
    freezes: z.array(freezeSchema).max(MOST).describe('Days on which no work on a machine begins.').optional(),
  })
  .refine((limits) => Object.values(limits).some((list) => list !== undefined && list.length > 0), {
    error: 'must have at least one limit',
    params: { hint: 'Write out_of_service, at_once, windows or freezes, or take the document out of the site.' },
  });

type LimitsData = z.infer<typeof limitsSchema>;

/** All limits of a site together; undefined if it has none. */
export function limitsOf(documents: readonly LimitsData[]): Limits | undefined {
  if (documents.length === 0) return undefined;
  const atOnce = documents.flatMap(({ at_once = [] }) => at_once);
  const requests = atOnce.flatMap(({ per, requests: most }) => (most === undefined ? [] : [{ per, requests: most }]));
  return {
    out_of_service: documents.flatMap(({ out_of_service = [] }) => out_of_service),
    at_once: atOnce.flatMap(({ per, deploying }) => (deploying === undefined ? [] : [{ per, deploying }])),
    ...(requests.length > 0 && { requests }),
    windows: documents.flatMap(({ windows = [] }) =>
      windows.map(({ days, from, to, zone: of = 'UTC' }) => ({
        ...{ days: days === undefined ? DAYS : daysIn(days)!, zone: of },
        ...{ from: minutesIn(from)!, to: minutesIn(to)! },
      })),
    ),
    freezes: documents.flatMap(({ freezes = [] }) =>
      freezes.map(({ from, to, zone: of = 'UTC', why }) => ({ from, to, zone: of, ...(why && { why }) })),
    ),
  };
}

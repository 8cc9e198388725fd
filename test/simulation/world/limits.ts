import type { Random } from '@sitewright/temporal-simulator';

/** From this seed on, sites have limits of changes. Seeds before keep their stories: known seeds and defects name them. */
export const WITH_LIMITS = 20_261_129_500_000;
/** From this seed on, runs also go beyond limits, these count requests to MAAS, and nodes ask the checks of rollouts. */
export const WITH_OVERRIDES = 20_261_130_000_000;

/** With a single site, MAAS works for that alone. */
type Per = 'site' | 'rack' | 'maas';

/** Machines that are deployed, or that MAAS works on, at a time. */
export type AtOnce =
  | { readonly per: Per; readonly deploying: number }
  | { readonly per: Per; readonly requests: number };

/** Limits of a site as a seed wants them. */
export interface WantedLimits {
  /** The document, as users write it. */
  readonly data: object;
  readonly outOfService: readonly { readonly per: 'site' | 'rack'; readonly at_most: number | string }[];
  readonly atOnce: readonly AtOnce[];
  /** Whether work may begin, by the times from which the document was written: the product reads the document. */
  closed(at: number): boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * @param from when the life begins: its calendar closes for a while soon after
 * @param deploys whether machines are deployed, and whether requests to MAAS are limited, too
 */
export function limitsFrom(
  random: Random,
  from: number,
  deploys: 'not' | 'limited' | 'requests limited',
): WantedLimits {
  const outOfService = random.pick<WantedLimits['outOfService']>([
    [{ per: 'site', at_most: 1 }],
    [{ per: 'site', at_most: 2 }],
    [{ per: 'site', at_most: random.pick(['10%', '34%', '50%']) }],
    [{ per: 'rack', at_most: 1 }],
    [
      { per: 'site', at_most: 2 },
      { per: 'rack', at_most: random.pick([1, '50%']) },
    ],
  ]);
  const atOnce: AtOnce[] =
    deploys !== 'not' && random.chance(0.6)
      ? [{ per: random.pick(['site', 'rack'] as const), deploying: random.int(1, 3) }]
      : [];
  if (deploys === 'requests limited' && random.chance(0.6))
    atOnce.push({ per: random.pick(['site', 'rack', 'maas'] as const), requests: random.int(1, 3) });
  const gap = random.chance(0.3) ? gapFrom(random, from) : null;
  const freeze = random.chance(0.2) ? freezeFrom(random, from) : null;
  return {
    ...{ outOfService, atOnce },
    data: {
      ...{ out_of_service: outOfService, at_once: atOnce },
      ...(gap && { windows: [gap.window] }),
      ...(freeze && { freezes: [freeze.freeze] }),
    },
    closed: (at) => (gap?.closed(at) ?? false) || (freeze?.closed(at) ?? false),
  };
}

/** One window a day that leaves a gap: it ends while the life goes on, and begins again soon. */
function gapFrom(random: Random, from: number) {
  const begins = Math.ceil(from / MINUTE) * MINUTE + random.int(3, random.pick([20, 180])) * MINUTE;
  const lasts = random.int(5, 90) * MINUTE;
  const hours = random.int(-11, 13);
  return {
    window: { from: clockAt(begins + lasts, hours), to: clockAt(begins, hours), zone: zoneOf(hours) },
    closed: (at: number) => (((at - begins) % DAY) + DAY) % DAY < lasts,
  };
}

/** The day on which the life begins, in a zone in which it soon ends. */
function freezeFrom(random: Random, from: number) {
  const hours = ((22 + random.int(0, 1) - new Date(from).getUTCHours() + 34) % 24) - 10;
  const begins = Math.floor((from + hours * HOUR) / DAY) * DAY - hours * HOUR;
  const day = new Date(begins + hours * HOUR).toISOString().slice(0, 10);
  return {
    freeze: { from: day, to: day, zone: zoneOf(hours), why: 'simulated' },
    closed: (at: number) => at >= begins && at < begins + DAY,
  };
}

/** Zones without summer time: their signs are the other way round. */
const zoneOf = (hours: number): string => (hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`);

const clockAt = (at: number, hours: number): string => new Date(at + hours * HOUR).toISOString().slice(11, 16);

export const placesOf = (at_most: number | string, total: number): number =>
  typeof at_most === 'number' ? at_most : Math.max(1, Math.floor((Number.parseInt(at_most, 10) / 100) * total));

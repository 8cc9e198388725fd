import type { Amount } from '../rollout/policy.ts';

/**
 * What limits the changes of a site's machines, whoever makes them: all `sitewright/Limits/v1` documents of the site together.
 * src/documents has checked what people write.
 */
export interface Limits {
  readonly out_of_service: readonly OutOfServiceLimit[];
  readonly at_once: readonly AtOnceLimit[];
  /** Documents have them in `at_once`. Absent: none. */
  readonly requests?: readonly RequestsLimit[];
  /** Work begins only within one of them; none: at any time. */
  readonly windows: readonly Window[];
  readonly freezes: readonly Freeze[];
}

/** So many machines may be broken, in maintenance or changed at a time. */
export interface OutOfServiceLimit {
  readonly per: 'site' | 'rack';
  /** A number, or a percentage of the machines of the site or rack: rounded down, at least one. */
  readonly at_most: Amount;
}

/** So many machines may be deployed at a time. `maas`: of all sites together. */
export interface AtOnceLimit {
  readonly per: 'site' | 'rack' | 'maas';
  readonly deploying: number;
}

/** MAAS may work on so many machines at a time: they are prepared, deployed or released. */
export interface RequestsLimit {
  readonly per: AtOnceLimit['per'];
  readonly requests: number;
}

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

/** Hours of the week. One that ends before it begins, or when it does, ends on the next day. */
export interface Window {
  readonly days: readonly Day[];
  /** Minutes since midnight. */
  readonly from: number;
  readonly to: number;
  /** Of the IANA database: `Europe/Berlin`. */
  readonly zone: string;
}

/** No work begins on these days, both included: `2026-12-20`. */
export interface Freeze {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly why?: string;
}

/** What a permit is for. `deploy`: from the preparation of a machine to the end of its deployment. `tasks`: tasks of a graph. */
export const PERMIT_WORKS = ['deploy', 'tasks', 'release'] as const;
export type PermitWork = (typeof PERMIT_WORKS)[number];

const DAYS_OF_WEEK = new Map<string, number>(DAYS.map((day, index) => [day, index]));

/** The days of `mon-thu`, `fri,sat`, `sat-mon`; undefined if that is none. */
export function daysIn(text: string): readonly Day[] | undefined {
  const days = new Set<Day>();
  for (const part of text.split(',')) {
    const [from, to = from, ...more] = part.trim().split('-');
    const [first, last] = [DAYS_OF_WEEK.get(from!), DAYS_OF_WEEK.get(to!)];
    if (first === undefined || last === undefined || more.length > 0) return undefined;
    for (let day = first; ; day = (day + 1) % DAYS.length) {
      days.add(DAYS[day]!);
      if (day === last) break;
    }
  }
  return DAYS.filter((day) => days.has(day));
}

/** The minutes since midnight of `22:00`; `24:00` is the end of the day. Undefined if it is no time of day. */
export function minutesIn(text: string): number | undefined {
  const [hours, minutes, ...more] = text.split(':').map(twoDigits);
  if (hours === undefined || minutes === undefined || more.length > 0) return undefined;
  const all = hours * 60 + minutes;
  return minutes < 60 && all <= MINUTES_A_DAY ? all : undefined;
}

export const MINUTES_A_DAY = 24 * 60;

/** Undefined if it is not written with two digits. */
export const twoDigits = (text: string): number | undefined =>
  text.length === 2 && isDigit(text[0]!) && isDigit(text[1]!) ? Number(text) : undefined;

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

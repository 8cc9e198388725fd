import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { isMapping } from '../data/plain-value.ts';
import { lineOf, listOf, number, optional, rule, texts, valueThat } from '../data/schema.ts';

/**
 * In what steps a change reaches the nodes of a deployment group, and when it stops by itself. src/documents has
 * checked what people write (`WrittenRollout`).
 */
export type RolloutPolicy = Wire<typeof rolloutPolicy>;

/** A number of nodes, or a percentage of those that the rollout is to reach: `"10%"`. At least one node. */
export type Amount = number | string;

export const PERCENTAGE = /^(?:100|[1-9][0-9]?)%$/;

export const isAmount = (value: unknown): value is Amount =>
  typeof value === 'string' ? PERCENTAGE.test(value) : Number.isSafeInteger(value) && Number(value) >= 1;

/** The next wave: all nodes that are left, twice the last wave, larger than it by `add`, or always `by`. */
export type Growth = 'all' | 'double' | { readonly add: Amount } | { readonly by: Amount };

/** So many failed nodes, over all waves, stop a rollout. */
export type StopAt = { readonly failed: number } | { readonly percent: number };

/** `rack`: one rack after the other. `spread`: one node of each rack in turn. `name`: by name, with numbers as numbers. */
export const ORDER_KEYS = ['rack', 'spread', 'name'] as const;
export type OrderKey = (typeof ORDER_KEYS)[number];

/** Why nodes cannot be put in order by these keys. */
export function orderProblem(keys: readonly OrderKey[]): string | undefined {
  if (new Set(keys).size < keys.length) return 'must not have an entry twice';
  if (keys.includes('rack') && keys.includes('spread')) return 'must not have both rack and spread';
  const name = keys.indexOf('name');
  return name >= 0 && name < keys.length - 1 ? 'must have name at its end: no two nodes have the same' : undefined;
}

const amount = valueThat<Amount>(isAmount, 'must be a number of nodes above 0, or a percentage');

const growth = valueThat<Growth>((value) => {
  if (!isMapping(value)) return value === 'all' || value === 'double';
  const [[key, by] = []] = Object.entries(value);
  return Object.keys(value).length === 1 && (key === 'add' || key === 'by') && isAmount(by);
}, 'must be double, all, {add: …} or {by: …}');

const stopAt = valueThat<StopAt>((value) => {
  const [[key, at] = []] = Object.entries(isMapping(value) ? value : {});
  if (!isMapping(value) || Object.keys(value).length !== 1 || !Number.isSafeInteger(at) || Number(at) < 1) return false;
  return key === 'failed' || (key === 'percent' && Number(at) <= 100);
}, 'must be {failed: N} or {percent: N}');

export const rolloutPolicy = z.object({
  /** Size of the first wave. */
  first: amount,
  /** In documents `then`. */
  growth,
  /** How long a wave is left alone before it is judged, in seconds. */
  soak: number,
  stop_at: stopAt,
  ...optional({
    /** Names of the checks that must be well after each wave. */
    checks: texts,
  }),
});

/** `rollout`, as people write it. */
export const writtenRollout = z.strictObject(
  optional({
    /** Default: all nodes, in one wave. */
    first: amount,
    // biome-ignore lint/suspicious/noThenProperty: the word of the document
    then: growth,
    /** A time: `90s`, `10m`, `2h`. */
    soak: valueThat<string>(
      (value) => typeof value === 'string' && TIME.test(value) && secondsIn(value) !== undefined,
      'must be a time such as "90s", "10m" or "2h", a week at most',
    ),
    stop_at: stopAt,
    /** Default: the order of the documents. */
    order: listOf(z.enum(ORDER_KEYS), 1).check(rule(orderProblem)),
    checks: listOf(lineOf(1_000), 1, 10),
  }),
);
export type WrittenRollout = Wire<typeof writtenRollout>;

/** With what holds where nothing is written: a limit that nobody has set is the strictest. */
export const policyOf = ({ first, then, soak, stop_at, checks = [] }: WrittenRollout): RolloutPolicy => ({
  first: first ?? '100%',
  growth: then ?? 'double',
  soak: soak === undefined ? 0 : (secondsIn(soak) ?? 0),
  stop_at: stop_at ?? { failed: 1 },
  ...(checks.length > 0 && { checks }),
});

/** A week. */
const LONGEST_SOAK = 7 * 24 * 3600;
const SECONDS_OF: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
]);

/** A time, as people write it. */
export const TIME = /^[1-9][0-9]{0,6}[smh]$/;

/** The seconds of a time; undefined if it is longer than a week. */
export function secondsIn(text: string): number | undefined {
  const seconds = Number(text.slice(0, -1)) * (SECONDS_OF.get(text.slice(-1)) ?? 0);
  return seconds <= LONGEST_SOAK ? seconds : undefined;
}

import { readFileSync } from 'node:fs';
import type { Random } from '@sitewright/temporal-simulator';

/** Something that shall happen in a state of a run in which it hardly ever does. */
export interface Goal {
  readonly state: string;
  readonly what: string;
}

type Unreached = Readonly<Record<'site' | 'cluster', Readonly<Record<string, readonly string[]>>>>;

/** What seeds have not reached, by world and state: `npm run simulate -- --seeds 3000 --unreached` prints this file anew. */
const UNREACHED = JSON.parse(readFileSync(new URL('unreached.json', import.meta.url), 'utf8')) as Unreached;

/** Seeds before this keep their stories: known seeds and defects name them. */
const FIRST = 100_000;

/** What a seed is after: one in three has a goal. */
export function goalOf(world: keyof Unreached, seed: number, random: Random): Goal | null {
  if (seed < FIRST || !random.chance(1 / 3)) return null;
  // Restoring the store is planned in two steps.
  const goals = Object.entries(UNREACHED[world]).flatMap(([state, all]) =>
    all.filter((what) => what !== 'store restored').map((what) => ({ state, what })),
  );
  return goals.length === 0 ? null : random.pick(goals);
}

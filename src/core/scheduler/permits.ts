import type { Coordination } from './partition.ts';

/** `[class, count]`, ordered by class. */
type Counts = readonly (readonly [number, number])[];

/**
 * Slots of a split run's limits. A permit covers everything a start needs (a slot of busy nodes and a slot of the
 * name), so that no part holds one while it waits for the other.
 */
export interface Permits {
  /** The part holds and wants these, whatever was known of it before. */
  correct(part: number, demand: Counts, held: Counts): void;
  receive(part: number, demand: Counts, release: Counts): void;
  /** `[part, class, count]`: the permits to grant now, round-robin so that no part starves. */
  grant(): [number, number, number][];
  keep(): KeptPermits;
}

/** What each part wants and holds, and whose turn it is. */
export interface KeptPermits {
  /** `[part, demand, held]` */
  readonly parts: readonly (readonly [number, Counts, Counts])[];
  readonly turn: number;
}

export function createPermits(plan: Coordination, kept: KeptPermits = { parts: [], turn: 0 }): Permits {
  const limits = new Map(plan.classLimits);
  const demand = Array.from({ length: plan.parts }, () => new Map<number, number>());
  const held = Array.from({ length: plan.parts }, () => new Map<number, number>());
  const granted = new Map<number, number>();
  let busy = 0;
  let { turn } = kept;
  const add = (counts: Map<number, number>, cls: number, change: number): void => {
    const next = (counts.get(cls) ?? 0) + change;
    if (next === 0) counts.delete(cls);
    else counts.set(cls, next);
  };
  const hold = (part: number, cls: number, change: number): void => {
    add(held[part]!, cls, change);
    add(granted, cls, change);
    busy += change;
  };
  const isFree = (cls: number): boolean =>
    (plan.nodeLimit === 0 || busy < plan.nodeLimit) &&
    (granted.get(cls) ?? 0) < (limits.get(cls) ?? Number.POSITIVE_INFINITY);
  const next = (part: number): number | undefined =>
    ascending(demand[part]!).find(([cls, wanted]) => wanted > 0 && isFree(cls))?.[0];
  const correct = (part: number, wanted: Counts, holding: Counts): void => {
    demand[part] = new Map(wanted);
    for (const [cls, count] of [...held[part]!]) hold(part, cls, -count);
    for (const [cls, count] of holding) hold(part, cls, count);
  };
  for (const [part, wanted, holding] of kept.parts) correct(part, wanted, holding);
  return {
    correct,
    keep: () => ({
      parts: demand.flatMap((wanted, part) =>
        wanted.size + held[part]!.size === 0 ? [] : [[part, [...wanted], [...held[part]!]] as const],
      ),
      turn,
    }),
    receive(part, wanted, released) {
      for (const [cls, change] of wanted) add(demand[part]!, cls, change);
      for (const [cls, count] of released) hold(part, cls, -count);
    },
    grant() {
      const grants = new Map<string, [number, number, number]>();
      for (let idle = 0; idle < plan.parts; ) {
        const part = turn;
        turn = (turn + 1) % plan.parts;
        const cls = next(part);
        if (cls === undefined) {
          idle++;
          continue;
        }
        idle = 0;
        add(demand[part]!, cls, -1);
        hold(part, cls, 1);
        const key = `${part} ${cls}`;
        const grant = grants.get(key);
        if (grant === undefined) grants.set(key, [part, cls, 1]);
        else grant[2]++;
      }
      return [...grants.values()];
    },
  };
}

const ascending = (counts: ReadonlyMap<number, number>): [number, number][] => [...counts].sort(([a], [b]) => a - b);

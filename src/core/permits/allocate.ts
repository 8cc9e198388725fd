import type { PermitWork } from './limits.ts';
import { Budgets, type Obstacle, type Permit, type PermitFacts } from './may-touch.ts';

/** A run that wants to touch machines of the site. */
export interface Wanting {
  readonly run: string;
  readonly work: PermitWork;
  /** In the order in which it would touch them. */
  readonly machines: readonly string[];
  /** Since when it waits, ms since 1970. */
  readonly since: number;
}

export interface Allocation {
  readonly granted: readonly Permit[];
  /** What each of the others waits for. */
  readonly waiting: ReadonlyMap<string, readonly Obstacle[] | 'turn'>;
}

/**
 * The machines that a run may touch now, beside other runs that wait: of those that can take a place, the one with the fewest
 * permits of the site takes the next, then the one that waits longest. What falls to another run is left for it.
 */
export function allocate(me: Wanting, others: readonly Wanting[], facts: PermitFacts, now: number): Allocation {
  const alone = new Budgets(facts, now);
  const budgets = new Budgets(facts, now);
  const granted: Permit[] = [];
  const runs = [me, ...others.filter(({ run }) => run !== me.run)].map((wanting) => ({
    wanting,
    held: facts.held.filter(({ run, site }) => run === wanting.run && site === facts.site).length,
    at: 0,
  }));
  const open = new Set(runs);
  while (open.size > 0) {
    const [first] = [...open].sort((a, b) => a.held - b.held || a.wanting.since - b.wanting.since);
    const { wanting } = first!;
    const { run, work } = wanting;
    const isNext = (): Permit | undefined => {
      // What may not be touched now may not be touched when more is taken.
      for (; first!.at < wanting.machines.length; first!.at += 1) {
        const machine = wanting.machines[first!.at]!;
        const answer = budgets.ask(run, machine, work);
        if (!answer.may) continue;
        first!.at += 1;
        return { site: facts.site, machine, run, work, counted: answer.counted };
      }
      return undefined;
    };
    const permit = isNext();
    if (permit === undefined) {
      open.delete(first!);
      continue;
    }
    budgets.take(permit);
    first!.held += 1;
    if (run === me.run) granted.push(permit);
  }
  for (const permit of granted) alone.take(permit);
  const has = new Set(granted.map(({ machine }) => machine));
  const waiting = new Map<string, readonly Obstacle[] | 'turn'>();
  for (const machine of me.machines) {
    if (has.has(machine)) continue;
    const answer = alone.ask(me.run, machine, me.work);
    waiting.set(machine, answer.may ? 'turn' : answer.waits);
  }
  return { granted, waiting };
}

/** How many of these machines may be changed at a time, whatever the calendar says. */
export function boundOf(facts: PermitFacts, work: PermitWork, machines: readonly string[]): number {
  const limits = { ...facts.limits, windows: [], freezes: [] };
  const me: Wanting = { run: '', work, machines, since: 0 };
  return allocate(me, [], { ...facts, limits }, 0).granted.length;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocate, boundOf, type Wanting } from '../../../../src/core/permits/allocate.ts';
import type { Limits, PermitWork } from '../../../../src/core/permits/limits.ts';
import {
  type LimitedMachine,
  mayTouch,
  type Permit,
  type PermitFacts,
  placesOf,
} from '../../../../src/core/permits/may-touch.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const NONE: Limits = { out_of_service: [], at_once: [], windows: [], freezes: [] };

const machines = (count: number, change: Readonly<Record<string, Partial<LimitedMachine>>> = {}) =>
  new Map<string, LimitedMachine>(
    Array.from({ length: count }, (_, index) => {
      const name = `n${index + 1}`;
      return [name, { rack: index % 2 === 0 ? 'a' : 'b', standing: 'in_service', ...change[name] }];
    }),
  );

const facts = (limits: Partial<Limits>, more: Partial<PermitFacts> = {}): PermitFacts => ({
  ...{ site: 'dc1', limits: { ...NONE, ...limits }, machines: machines(10), held: [], offset: () => 0 },
  ...more,
});
const wanting = (run: string, names: readonly string[], more: Partial<Wanting> = {}): Wanting => ({
  ...{ run, work: 'deploy', machines: names, since: NOW },
  ...more,
});
const permit = (run: string, machine: string, more: Partial<Permit> = {}): Permit => ({
  ...{ site: 'dc1', machine, run, work: 'deploy', counted: true },
  ...more,
});
const grantedTo = (me: Wanting, others: readonly Wanting[], of: PermitFacts): string[] =>
  allocate(me, others, of, NOW).granted.map(({ machine }) => machine);
const ALL = [...machines(10).keys()];

describe('mayTouch', () => {
  it.each<[string, Parameters<typeof placesOf>, number]>([
    ['a number', [3, 10], 3],
    ['a percentage, rounded down', ['25%', 10], 2],
    ['at least one', ['1%', 10], 1],
  ])('reads %s', (_, given, places) => {
    expect(placesOf(...given)).toBe(places);
  });

  it('counts machines that are broken, and those of which nothing is known', () => {
    const of = facts(
      { out_of_service: [{ per: 'site', at_most: 3 }] },
      { machines: machines(10, { n1: { standing: 'out' }, n2: { standing: 'out' } }) },
    );
    expect(grantedTo(wanting('r', ALL.slice(2)), [], of)).toEqual(['n3']);
  });

  it('lets a machine that is out of service be repaired, and a new one be deployed, when no place is left', () => {
    const of = facts(
      { out_of_service: [{ per: 'site', at_most: 1 }] },
      { machines: machines(4, { n1: { standing: 'out' }, n2: { standing: 'new' } }) },
    );
    expect(grantedTo(wanting('r', ['n1', 'n2', 'n3']), [], of)).toEqual(['n1', 'n2']);
  });

  it('counts a machine without a rack in each rack', () => {
    const of = facts(
      { out_of_service: [{ per: 'rack', at_most: 1 }] },
      { machines: machines(4, { n4: { rack: null } }), held: [permit('other', 'n1')] },
    );
    expect(mayTouch({ run: 'r', machine: 'n4' }, 'deploy', of, NOW)).toMatchObject({
      may: false,
      waits: [{ kind: 'out_of_service', of: 'a' }],
    });
    const unknown = { ...of, held: [permit('other', 'n4')] };
    expect(grantedTo(wanting('r', ['n1', 'n2']), [], unknown)).toEqual([]);
  });

  it('limits deployments of all sites together where a limit is of MAAS, and no tasks', () => {
    const of = facts({ at_once: [{ per: 'maas', deploying: 2 }] }, { held: [permit('x', 'm1', { site: 'dc2' })] });
    expect(grantedTo(wanting('r', ALL), [], of)).toEqual(['n1']);
    expect(grantedTo(wanting('r', ALL, { work: 'tasks' }), [], of)).toEqual(ALL);
  });

  it('limits the machines that MAAS works on for whatever reason, of all sites together, and no tasks', () => {
    const held = [permit('x', 'm1', { site: 'dc2', work: 'release' }), permit('y', 'n9', { work: 'tasks' })];
    const of = facts({ requests: [{ per: 'maas', requests: 3 }] }, { held });
    for (const work of ['deploy', 'release'] as const)
      expect(grantedTo(wanting('r', ALL, { work }), [], of)).toEqual(['n1', 'n2']);
    expect(grantedTo(wanting('r', ALL, { work: 'tasks' }), [], of)).toEqual(ALL);
    const inRack = facts({ requests: [{ per: 'rack', requests: 1 }] }, { held: [permit('x', 'n1')] });
    expect(mayTouch({ run: 'r', machine: 'n3' }, 'release', inRack, NOW)).toMatchObject({
      may: false,
      waits: [{ kind: 'at_once', limit: { requests: 1 }, of: 'a' }],
    });
  });

  it('gives a run again what it has, whatever the limits say now', () => {
    const of = facts({ out_of_service: [{ per: 'site', at_most: 1 }] }, { held: [permit('r', 'n1')] });
    const frozen = {
      ...of,
      limits: { ...of.limits, freezes: [{ from: '2026-11-01', to: '2026-12-01', zone: 'UTC' }] },
    };
    expect(grantedTo(wanting('r', ['n1', 'n2']), [], frozen)).toEqual(['n1']);
  });
});

describe('allocate', () => {
  const TWO = facts({ out_of_service: [{ per: 'site', at_most: 2 }] });

  it('gives the next place to the run with the fewest permits, then to the one that waits longest', () => {
    const late = wanting('late', ['n1', 'n2'], { since: NOW - 1 });
    const early = wanting('early', ['n3', 'n4'], { since: NOW - 1000 });
    const one = { ...TWO, held: [permit('early', 'n10')] };
    expect(grantedTo(early, [late], one)).toEqual([]);
    expect(allocate(early, [late], one, NOW).waiting.get('n3')).toBe('turn');
    expect(grantedTo(late, [early], one)).toEqual(['n1']);
    expect(grantedTo(late, [early], { ...TWO, held: [permit('x', 'n10')] })).toEqual([]);
    expect(grantedTo(early, [late], { ...TWO, held: [permit('x', 'n10')] })).toEqual(['n3']);
  });

  it('leaves nothing to a run that could not take it', () => {
    const of = facts(
      {
        out_of_service: [
          { per: 'site', at_most: 2 },
          { per: 'rack', at_most: 1 },
        ],
      },
      { held: [permit('x', 'n1')] },
    );
    // Its rack is full.
    const blocked = wanting('blocked', ['n3'], { since: NOW - 1000 });
    expect(grantedTo(wanting('r', ['n2']), [blocked], of)).toEqual(['n2']);
  });

  it('says how many of some machines may be changed at a time', () => {
    expect(boundOf(TWO, 'deploy', ALL)).toBe(2);
    expect(boundOf(facts({ out_of_service: [{ per: 'rack', at_most: 2 }] }), 'deploy', ALL)).toBe(4);
    expect(boundOf(facts({ freezes: [{ from: '2000-01-01', to: '2100-01-01', zone: 'UTC' }] }), 'tasks', ALL)).toBe(10);
  });

  const amounts = fc.oneof(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
  );
  const limits = fc.record({
    out_of_service: fc.array(fc.record({ per: fc.constantFrom('site' as const, 'rack' as const), at_most: amounts }), {
      maxLength: 3,
    }),
    at_once: fc.array(
      fc.record({
        per: fc.constantFrom('site' as const, 'rack' as const, 'maas' as const),
        deploying: fc.integer({ min: 1, max: 4 }),
      }),
      { maxLength: 2 },
    ),
    requests: fc.array(
      fc.record({
        per: fc.constantFrom('site' as const, 'rack' as const, 'maas' as const),
        requests: fc.integer({ min: 1, max: 4 }),
      }),
      { maxLength: 1 },
    ),
  });
  const sites = fc.array(
    fc.record({
      rack: fc.constantFrom('a', 'b', 'c', null),
      standing: fc.constantFrom(
        'in_service' as const,
        'in_service' as const,
        'in_service' as const,
        'out' as const,
        'new' as const,
      ),
    }),
    { minLength: 1, maxLength: 14 },
  );
  const runs = fc.array(
    fc.record({
      work: fc.constantFrom<PermitWork[]>('deploy', 'tasks', 'release'),
      picks: fc.array(fc.nat({ max: 13 }), { minLength: 1, maxLength: 14 }),
    }),
    { minLength: 1, maxLength: 4 },
  );

  it('never exceeds a limit, and lets each of several runs come to an end, in whatever order they ask', () => {
    fc.assert(
      fc.property(
        limits,
        sites,
        runs,
        fc.array(fc.nat(), { minLength: 50, maxLength: 50 }),
        (given, site, wants, dice) => {
          const known = new Map(site.map((machine, index) => [`n${index}`, machine]));
          const all = { ...NONE, ...given };
          let held: Permit[] = [];
          let rolled = 0;
          const roll = (sides: number): number => dice[rolled++ % dice.length]! % sides;
          const left = wants.map(({ work, picks }, index) => ({
            ...{ run: `r${index}`, work, since: index },
            machines: [...new Set(picks.map((pick) => `n${pick % site.length}`))],
            asked: false,
          }));
          const isOpen = (one: (typeof left)[number]) =>
            one.machines.length > 0 || held.some(({ run }) => run === one.run);
          const worst =
            4 * left.reduce((sum, { machines: names }) => sum + names.length + 1, 0) * left.length * 8 + 200;
          for (let turn = 0; left.some(isOpen); turn += 1) {
            expect(turn).toBeLessThan(worst);
            const open = left.filter(isOpen);
            const one = open[roll(open.length)]!;
            // A machine that was done may be wanted by another run: it serves again.
            const mine = held.filter(({ run }) => run === one.run);
            if (mine.length > 0 && (one.machines.length === 0 || roll(2) === 0)) {
              const over = mine[roll(mine.length)]!;
              held = held.filter((other) => other !== over);
              continue;
            }
            if (one.machines.length === 0) continue;
            one.asked = true;
            const waiting = left.filter((other) => other !== one && other.asked && other.machines.length > 0);
            const of: PermitFacts = { ...{ site: 'dc1', limits: all, machines: known, held }, offset: () => 0 };
            const { granted } = allocate(one, waiting, of, NOW);
            for (const taken of granted) {
              held = [...held, taken];
              expect(exceeded(all, known, held, taken)).toEqual([]);
            }
            const names = new Set(granted.map(({ machine }) => machine));
            one.machines = one.machines.filter((name) => !names.has(name));
            // Someone repairs what is broken when nothing else can happen.
            const [broken] = [...known].find(([, { standing }]) => standing === 'out') ?? [];
            if (held.length === 0 && broken !== undefined)
              known.set(broken, { ...known.get(broken)!, standing: 'in_service' });
          }
        },
      ),
    );
  });
});

/** Counts from the permits alone: which limits the last of them has exceeded. */
function exceeded(
  { out_of_service, at_once, requests = [] }: Limits,
  known: ReadonlyMap<string, LimitedMachine>,
  held: readonly Permit[],
  last: Permit,
): string[] {
  const names = [...known.keys()];
  const racks = new Set([...known.values()].map(({ rack }) => rack).filter((rack) => rack !== null));
  const places: (string | null)[] = racks.size === 0 ? [null] : [...racks];
  const isIn = (name: string, rack: string | null) => [rack, null].includes(known.get(name)!.rack);
  const isOut = (name: string, permits: readonly Permit[]) =>
    known.get(name)!.standing === 'out' || permits.some(({ machine, counted }) => counted && machine === name);
  const before = held.filter((one) => one !== last);
  const wasOut = isOut(last.machine, before);
  const took = last.work !== 'release' && known.get(last.machine)!.standing === 'in_service' && !wasOut;
  const found: string[] = [];
  for (const { per, at_most } of took ? out_of_service : []) {
    for (const rack of per === 'site' ? [undefined] : places.filter((one) => isIn(last.machine, one))) {
      const there = names.filter((name) => rack === undefined || isIn(name, rack));
      const total = rack === undefined ? names.length : names.filter((name) => known.get(name)!.rack === rack).length;
      if (there.filter((name) => isOut(name, held)).length > placesOf(at_most, total))
        found.push(`out per ${per} ${rack}`);
    }
  }
  const ofMaas = [
    ...at_once.map(({ per, deploying: most }) => ({ per, most, works: ['deploy'] as readonly PermitWork[] })),
    ...requests.map(({ per, requests: most }) => ({
      per,
      most,
      works: ['deploy', 'release'] as readonly PermitWork[],
    })),
  ];
  for (const { per, most, works } of ofMaas) {
    const isNew =
      works.includes(last.work) &&
      !before.some(({ work, machine }) => works.includes(work) && machine === last.machine);
    const counted = new Set(held.filter(({ work }) => works.includes(work)).map(({ machine }) => machine));
    const of = !isNew ? [] : per === 'rack' ? places.filter((one) => isIn(last.machine, one)) : [undefined];
    for (const rack of of) {
      const there = [...counted].filter((name) => rack === undefined || isIn(name, rack));
      if (there.length > most) found.push(`${works.join()} per ${per} ${rack}`);
    }
  }
  return found;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Driven } from '../unit/scheduler/drive.ts';
import { driveSplit, driveWhole } from '../unit/scheduler/drive.ts';
import { violations } from '../unit/scheduler/invariants.ts';
import { randomPlans } from '../unit/scheduler/random-plans.ts';

const noDoubles = (run: Driven): void => {
  expect(new Set(run.starts).size).toBe(run.starts.length);
};

const endsAs = (split: Driven, whole: Driven): void => {
  expect(split.tasks).toEqual(whole.tasks);
  expect(split.nodes).toEqual(whole.nodes);
  expect(split.result).toBe(whole.result);
};

describe('a run with random timing', () => {
  it('keeps every invariant through failures, retries, pauses, stops and restarts', () => {
    const plans = randomPlans({ failures: true, offline: true, retries: true });
    fc.assert(
      fc.property(plans, fc.nat(), (plan, seed) => {
        const run = driveWhole(plan, seed, { pauses: true, restarts: seed % 3 > 0, stops: true });
        expect(violations(plan, run)).toEqual([]);
        noDoubles(run);
      }),
      { numRuns: 400 },
    );
  });

  it('ends, with no more machines at work than there are permits, and keeps none for a node that waits for others', () => {
    const plans = randomPlans({ failures: true, offline: true, retries: true });
    fc.assert(
      fc.property(plans, fc.nat(), fc.integer({ min: 1, max: 3 }), (plan, seed, places) => {
        const disturb = { pauses: true, restarts: seed % 3 > 0, stops: seed % 2 === 0, places };
        const run = driveWhole(plan, seed, { ...disturb, operator: seed % 5 === 0, instant: seed % 7 === 0 });
        noDoubles(run);
      }),
      { numRuns: 400 },
    );
  });

  it('ends within its limits, whatever an operator retries and skips', () => {
    const plans = randomPlans({ failures: true, offline: true, retries: true });
    fc.assert(
      fc.property(plans, fc.nat(), (plan, seed) => {
        const run = driveWhole(plan, seed, {
          pauses: true,
          restarts: seed % 3 > 0,
          stops: true,
          operator: true,
          instant: true,
        });
        noDoubles(run);
        const most = plan.limits!.max_nodes!;
        if (most > 0) expect(run.maxBusy).toBeLessThanOrEqual(most);
        for (const [name, limit] of Object.entries(plan.limits!.per_task!)) {
          expect(run.maxByName.get(name) ?? 0).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('a run in parts', () => {
  const cut = fc.array(fc.nat(3), { minLength: 6, maxLength: 6 });
  /** Numbers the parts from 0 without gaps. */
  const partsOf = (nodes: number, draw: readonly number[]): number[] => {
    const seen: number[] = [];
    return draw.slice(0, nodes).map((p) => {
      if (!seen.includes(p)) seen.push(p);
      return seen.indexOf(p);
    });
  };

  it('ends as an unsplit run when failures do not depend on timing', () => {
    const plans = randomPlans({ failures: true, tolerant: true, offline: true, chained: true, retries: true });
    fc.assert(
      fc.property(plans, cut, fc.nat(), (plan, draw, seed) => {
        const whole = driveWhole(plan, seed);
        const split = driveSplit(plan, partsOf(plan.nodes.length, draw), seed, {
          pauses: true,
          restarts: seed % 3 > 0,
          instant: seed % 2 === 0,
        });
        endsAs(split, whole);
        noDoubles(split);
      }),
      { numRuns: 400 },
    );
  });

  it('keeps the invariants and every limit when parts fail, stop and receive messages late', () => {
    const plans = randomPlans({ failures: true, offline: true, retries: true });
    fc.assert(
      fc.property(plans, cut, fc.nat(), (plan, draw, seed) => {
        const partOf = partsOf(plan.nodes.length, draw);
        const run = driveSplit(plan, partOf, seed, { pauses: true, restarts: seed % 3 > 0, stops: true });
        expect(violations(plan, run, { split: true })).toEqual([]);
        noDoubles(run);
      }),
      { numRuns: 400 },
    );
  });

  it.each(['all', 'some'] as const)(
    'ends as if nothing had been when its coordinator is reset and hears %s requests again',
    (resets) => {
      const plans = randomPlans({ failures: true, tolerant: true, offline: true, chained: true, retries: true });
      fc.assert(
        fc.property(plans, cut, fc.nat(), (plan, draw, seed) => {
          const whole = driveWhole(plan, seed);
          const split = driveSplit(plan, partsOf(plan.nodes.length, draw), seed, {
            resets,
            pauses: true,
            restarts: seed % 3 > 0,
            instant: seed % 2 === 0,
          });
          endsAs(split, whole);
          noDoubles(split);
        }),
        { numRuns: 600 },
      );
    },
  );

  it.each([false, true])('ends as if nothing had been when parts are reset; its coordinator, too: %s', (both) => {
    const plans = randomPlans({ failures: true, tolerant: true, offline: true, chained: true, retries: true });
    fc.assert(
      fc.property(plans, cut, fc.nat(), (plan, draw, seed) => {
        const whole = driveWhole(plan, seed);
        const split = driveSplit(plan, partsOf(plan.nodes.length, draw), seed, {
          ...(both ? { resets: 'all' } : {}),
          partResets: true,
          pauses: true,
          restarts: seed % 3 > 0,
          instant: seed % 2 === 0,
        });
        endsAs(split, whole);
      }),
      { numRuns: 600 },
    );
  });

  it('keeps the invariants and every limit when its coordinator is reset, too', () => {
    const plans = randomPlans({ failures: true, offline: true, retries: true });
    fc.assert(
      fc.property(plans, cut, fc.nat(), (plan, draw, seed) => {
        const partOf = partsOf(plan.nodes.length, draw);
        const run = driveSplit(plan, partOf, seed, {
          resets: 'all',
          pauses: true,
          restarts: seed % 3 > 0,
          stops: true,
        });
        expect(violations(plan, run, { split: true })).toEqual([]);
        noDoubles(run);
      }),
      { numRuns: 600 },
    );
  });

  it('ends within its limits, whatever an operator retries and skips', () => {
    const plans = randomPlans({ failures: true, offline: true, retries: true });
    fc.assert(
      fc.property(plans, cut, fc.nat(), (plan, draw, seed) => {
        const partOf = partsOf(plan.nodes.length, draw);
        const run = driveSplit(plan, partOf, seed, {
          ...(seed % 2 === 0 ? { resets: 'some' } : {}),
          pauses: true,
          restarts: seed % 3 > 0,
          stops: true,
          operator: true,
          instant: true,
        });
        noDoubles(run);
        const most = plan.limits!.max_nodes!;
        if (most > 0) expect(run.maxBusy).toBeLessThanOrEqual(most);
        for (const [name, limit] of Object.entries(plan.limits!.per_task!)) {
          expect(run.maxByName.get(name) ?? 0).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 400 },
    );
  });
});

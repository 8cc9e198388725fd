import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/core/scheduler/simulate.ts';
import { observed, violations } from '../unit/scheduler/invariants.ts';
import { randomPlans } from '../unit/scheduler/random-plans.ts';

describe('simulated runs', () => {
  it('keep every invariant of the recordings, whatever fails, stops or is offline', () => {
    fc.assert(
      fc.property(randomPlans({ failures: true, stop: true, offline: 'tolerated', retries: true }), (plan) => {
        expect(violations(plan, observed(plan, simulate(plan)))).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  it('end with every task done when nothing fails', () => {
    fc.assert(
      fc.property(randomPlans(), (plan) => {
        const seen = observed(plan, simulate(plan));
        expect(violations(plan, seen)).toEqual([]);
        expect(seen.result).toBe('success');
        for (const task of plan.tasks) {
          const word = task.type === 'task' ? 'success' : 'skipped';
          expect(seen.tasks[`${task.id}@${task.node}`]).toBe(word);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('treat a join as the product of its edges, weights included', () => {
    fc.assert(
      fc.property(randomPlans({ failures: true }), (plan) => {
        const { joins = [], ...rest } = plan;
        const products = joins.flatMap(({ before, after }) =>
          before.flatMap((a) => after.map((b): [string, string] => [a, b])),
        );
        expect(simulate(plan)).toEqual(simulate({ ...rest, edges: [...plan.edges, ...products] }));
      }),
      { numRuns: 400 },
    );
  });
});

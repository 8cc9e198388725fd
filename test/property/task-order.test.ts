import { expect, it } from 'vitest';
import { lowerBound } from '../../bench/makespan-bound.ts';
import { drawDurations, makespan } from '../../bench/makespan-simulation.ts';
import { recordedRun } from '../../bench/recorded-run.ts';

it('the order of its tasks does not make a run longer', () => {
  const run = recordedRun(20, 'apply');
  const ratios = [1, 2, 3, 4, 5].map((draw) => {
    const durations = drawDurations(run, draw);
    return makespan(run.graph, durations) / lowerBound(run.graph, durations).least;
  });
  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...ratios)).toBeLessThanOrEqual(1.05);
});

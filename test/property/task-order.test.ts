import { expect, it } from 'vitest';
import { lowerBound } from '../../bench/makespan-bound.ts';
import { drawDurations, makespan } from '../../bench/makespan-simulation.ts';
import { recordedRun } from '../../bench/recorded-run.ts';

it.each([undefined, 2])(
  'the order of its tasks does not make a run longer: %s machines out of service at most',
  (places) => {
    const run = recordedRun(20, 'apply');
    const ratios = [1, 2, 3, 4, 5].map((draw) => {
      const durations = drawDurations(run, draw);
      return makespan(run.graph, durations, places) / lowerBound(run.graph, durations, places).least;
    });
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...ratios)).toBeLessThanOrEqual(1.05);
  },
);

import type { SimulationResult } from '../core/scheduler/simulate.ts';

/**
 * A simulated run in the words of the reference executor, whose recorded results it is compared with
 * (test/data/scheduler).
 */
export function inRecordedWords({ why, ...run }: SimulationResult) {
  const result = run.result !== 'failed' ? run.result : why === 'tolerance' ? 'stopped_by_tolerance' : 'failure';
  return { ...run, result };
}

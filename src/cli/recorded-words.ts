import type { SimulationResult } from '../core/scheduler/simulate.ts';
import type { TaskStatus } from '../core/words.ts';

/**
 * A simulated run in the words of the reference executor, whose recorded results it is compared with
 * (test/data/scheduler).
 */
export function inRecordedWords({ why, ...run }: SimulationResult) {
  return {
    ...run,
    result: run.result !== 'failed' ? run.result : why === 'tolerance' ? 'stopped_by_tolerance' : 'failure',
    tasks: mapValues(run.tasks, recorded),
    nodes: mapValues(run.nodes, recorded),
    trace: run.trace.map(({ outcome, ...entry }) => ({
      ...entry,
      ...(outcome === undefined ? {} : { outcome: recorded(outcome) }),
    })),
  };
}

const WORDS: Readonly<Partial<Record<TaskStatus, string>>> = {
  success: 'successful',
  blocked: 'dep_failed',
  not_reached: 'skipped',
};
const recorded = (status: TaskStatus): string => WORDS[status] ?? status;

const mapValues = <T>(of: Readonly<Record<string, T>>, change: (value: T) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]));

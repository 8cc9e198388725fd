import type { Simulation } from '../../../src/core/scheduler/simulate.ts';
import { Model } from './invariants.ts';

export type CertainEnd = 'success' | 'failed' | 'ignored' | 'skipped' | 'blocked';

/**
 * How tasks must end whatever the order in which they run, for plans that nothing can stop (no node is critical, every
 * tolerance is out of reach, no stop); ends that depend on timing are left out. Found by iterating until nothing more
 * is known; knows nothing of the scheduler.
 */
export function certainEnds(plan: Simulation): Map<string, CertainEnd> {
  const model = new Model(plan);
  const ends = new Map<string, CertainEnd>();
  const mayFail = (key: string): boolean => {
    const forgiven = plan.tasks[model.tasks.get(key)!.place]!.fail_on_error === false;
    return !forgiven && model.tasks.get(key)!.work && Object.hasOwn(plan.outcomes ?? {}, key);
  };
  const isLost = (key: string): boolean => ends.get(key) === 'failed' || ends.get(key) === 'blocked';
  /**
   * Whether `later` cannot run before `first` has ended, by edges alone. A sync point ignores lost tasks,
   * and a task may be lost (its node is offline, for example) while others that it waits for still run: an edge into a sync point
   * keeps the order only if its source surely runs.
   */
  const isBehind = (first: string, later: string): boolean => {
    const holds = (from: string, to: string): boolean =>
      from === first || !model.isSync(model.tasks.get(to)!.node) || (ends.has(from) && !isLost(from));
    const seen = new Set([first]);
    for (const at of seen) for (const to of model.successors.get(at)!) if (holds(at, to)) seen.add(to);
    return seen.has(later);
  };
  /** By itself: neither its requirements nor its node take it along. */
  const ownEnd = (key: string): CertainEnd => {
    if (!model.tasks.get(key)!.work) return 'skipped';
    if (!Object.hasOwn(plan.outcomes ?? {}, key)) return 'success';
    return mayFail(key) ? 'failed' : 'ignored';
  };
  const look = (key: string): CertainEnd | undefined => {
    const { node } = model.tasks.get(key)!;
    if (plan.offline?.includes(node)) return 'blocked';
    const before = model.before(key);
    if (!model.isSync(node) && before.some(isLost)) return 'blocked';
    const breakers = model.onNode(node).filter((other) => other !== key && mayFail(other));
    if (breakers.some((other) => ends.get(other) === 'failed' && isBehind(other, key))) return 'blocked';
    const isSafe = breakers.every((other) => isBehind(key, other) || ends.get(other) === 'blocked');
    return isSafe && before.every((other) => ends.has(other)) ? ownEnd(key) : undefined;
  };
  for (let known = -1; known < ends.size; ) {
    known = ends.size;
    for (const key of model.tasks.keys()) {
      const end = ends.has(key) ? undefined : look(key);
      if (end !== undefined) ends.set(key, end);
    }
  }
  return ends;
}

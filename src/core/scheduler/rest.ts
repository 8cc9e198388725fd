import { taskCount } from './graph.ts';
import { announceStatus } from './propagation.ts';
import { hasOpenRollout } from './rollouts.ts';
import type { Scheduler } from './state.ts';
import { isStopping } from './state.ts';
import { code, isFinal } from './status.ts';

/** Nothing runs, and nothing will start without an external event. */
export const isQuiet = (s: Scheduler): boolean => s.running === 0 && (s.unsettled === 0 || isStopping(s));

/** The run waits for an operator: it is paused, or tasks have failed (option `hold`); or a rollout goes on. */
export const isHeld = (s: Scheduler): boolean =>
  !s.stopped &&
  (s.paused || (s.options.hold && s.failedOn.some((failed) => failed > 0)) || (!isStopping(s) && hasOpenRollout(s)));

/** Number of unfinished tasks with work. Linear in the size of the part: not for each event. */
export function workLeft(s: Scheduler): number {
  let left = 0;
  for (let task = 0; task < taskCount(s.graph); task++) {
    if (s.noWork[task] === 0 && !isFinal(s.status[task]!)) left++;
  }
  return left;
}

/** Skips tasks that never started because of a stop; those with work are marked as undone. */
export function settleUndone(s: Scheduler): void {
  if (s.unsettled === 0) return;
  for (let task = 0; task < taskCount(s.graph); task++) {
    const c = s.status[task]!;
    if (c !== code.waiting && c !== code.ready) continue;
    // No task waits for these any more: their successors need no update.
    s.status[task] = s.noWork[task] === 1 ? code.skipped : code.notReached;
    s.unsettled--;
    announceStatus(s, task, c);
  }
}

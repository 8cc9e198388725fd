import { taskCount } from './graph.js';
import { announceStatus } from './propagation.js';
import type { Scheduler } from './state.js';
import { isStopping } from './state.js';
import { code, isFinal } from './status.js';

/** Nothing runs, and nothing will start unless somebody outside acts. */
export const isQuiet = (s: Scheduler): boolean => s.running === 0 && (s.unsettled === 0 || isStopping(s));

/** It was asked to wait for an operator while tasks are failed. */
export const isHeld = (s: Scheduler): boolean =>
  s.options.hold && !s.stopped && s.failedOn.some((failed) => failed > 0);

/** Tasks with work that have not come to their end. Linear in the part: not for each event. */
export function workLeft(s: Scheduler): number {
  let left = 0;
  for (let task = 0; task < taskCount(s.graph); task++) {
    if (s.noWork[task] === 0 && !isFinal(s.status[task]!)) left++;
  }
  return left;
}

/** What never started because of a stop is skipped; where there was work in it, as undone. */
export function settleUndone(s: Scheduler): void {
  if (s.unsettled === 0) return;
  for (let task = 0; task < taskCount(s.graph); task++) {
    const c = s.status[task]!;
    if (c !== code.waiting && c !== code.ready) continue;
    // Nobody waits for these any more, so their surroundings need not know.
    s.status[task] = s.noWork[task] === 1 ? code.passed : code.undone;
    s.unsettled--;
    announceStatus(s, task, c);
  }
}

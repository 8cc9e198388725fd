import type { TaskFailure } from './result.ts';
import type { TryEnd } from './task-runner.ts';

/**
 * How a try ended that was to be stopped: its time was up, or someone had cancelled it.
 *
 * What ended before anything of it was told to end has ended as its exit code says, also in the moment of its limit. What was told to
 * end has not succeeded, also with exit code 0: whether a program ends so because its work is done or because it heeds SIGTERM,
 * no one can tell, and the tasks that follow would build on it.
 *
 * @param cause why it was stopped
 * @param told processes that were told to end
 */
export function stoppedEnd(end: TryEnd, cause: TaskFailure, told: number): TryEnd {
  const endedItself = end.failure === null || (end.failure.kind === 'exit' && cause.kind === 'timeout');
  if (told === 0 && endedItself) return end;
  const hasCode = cause.kind === 'timeout' && end.exitCode !== undefined;
  return {
    ...end,
    failure: hasCode ? { ...cause, exitCode: end.exitCode } : cause,
    changed: end.changed === false ? false : null,
  };
}

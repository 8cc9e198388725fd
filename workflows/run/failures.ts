import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TemporalFailure } from '@temporalio/workflow';
import type { StepError } from '../../src/core/run/failure.ts';

/**
 * The original error of a failed activity or child workflow, without Temporal's wrappers.
 *
 * @throws the error itself when it is a bug: it must block the workflow, not end it with a wrong report
 */
export function stepError(error: unknown): StepError {
  if (!(error instanceof TemporalFailure)) throw error;
  let root: Error = error;
  let message: string | null = null;
  while ((root instanceof ActivityFailure || root instanceof ChildWorkflowFailure) && root.cause) {
    message = endOfChild(root);
    root = root.cause;
  }
  // Whoever fails an activity by hand gives no type; activities always do.
  const type = root instanceof ApplicationFailure ? root.type || FAILED_BY_HAND : root.name;
  return { type, message: message ?? root.message };
}

/** Type of the failure of an activity that someone failed: `temporal activity fail`. */
const FAILED_BY_HAND = 'failed-by-hand';

/** Type of the failure of a child that is not there any more, and of whose end nothing is known. */
export const CHILD_MISSING = 'ChildMissing';

/** Which child workflow someone ended, and how: it has no result. Null for any other error. */
export function endOfChild(error: unknown): string | null {
  if (error instanceof ApplicationFailure && error.type === CHILD_MISSING) return error.message;
  if (!(error instanceof ChildWorkflowFailure)) return null;
  const end = CHILD_ENDS[error.cause?.name ?? ''];
  return end === undefined ? null : `${error.execution.workflowId} ${end}`;
}

/** By the name of the failure's cause. */
const CHILD_ENDS: Readonly<Record<string, string>> = {
  CancelledFailure: 'was cancelled',
  TerminatedFailure: 'was terminated',
  TimeoutFailure: 'timed out',
};

/** A final failure, worded for people: without the stack trace, which shows folders of the machine that built the code. */
export function failure(type: string, message: string, ...details: readonly unknown[]): ApplicationFailure {
  const made = ApplicationFailure.nonRetryable(message, type, ...details);
  made.stack = '';
  return made;
}

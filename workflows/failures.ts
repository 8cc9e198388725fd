import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TemporalFailure } from '@temporalio/workflow';
import type { StepError } from '../src/core/run/index.js';

/**
 * The original error of a failed activity or child workflow, without Temporal's wrappers.
 *
 * @throws the error itself when it is a bug: it must block the workflow, not end it with a wrong report
 */
export function stepError(error: unknown): StepError {
  if (!(error instanceof TemporalFailure)) throw error;
  let root: Error = error;
  while ((root instanceof ActivityFailure || root instanceof ChildWorkflowFailure) && root.cause) root = root.cause;
  const type = root instanceof ApplicationFailure ? (root.type ?? 'error') : root.name;
  return { type, message: root.message };
}

/** A final failure, worded for people: without the stack trace, which shows folders of the machine that built the code. */
export function failure(type: string, message: string, ...details: readonly unknown[]): ApplicationFailure {
  const made = ApplicationFailure.nonRetryable(message, type, ...details);
  made.stack = '';
  return made;
}

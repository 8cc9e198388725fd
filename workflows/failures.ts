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

/** Thrown by the validator of an update to reject it. */
export const refusal = (type: 'RetryRefused' | 'TaskRequestRefused', message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, type);

/** A text field of an update request. Operators may send any payload. */
export function textOf(request: unknown, field: string): string | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  const value: unknown = Reflect.get(request, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

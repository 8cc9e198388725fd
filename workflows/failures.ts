import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TemporalFailure } from '@temporalio/workflow';
import type { StepError } from '../src/core/run/index.js';

/**
 * What an activity or a child workflow that gave up has to say, without the wrapping.
 *
 * @throws the error as it is when it is a defect of ours: that must stop the workflow where it is, not end it with a
 *   wrong report
 */
export function stepError(error: unknown): StepError {
  if (!(error instanceof TemporalFailure)) throw error;
  let root: Error = error;
  while ((root instanceof ActivityFailure || root instanceof ChildWorkflowFailure) && root.cause) root = root.cause;
  const type = root instanceof ApplicationFailure ? (root.type ?? 'error') : root.name;
  return { type, message: root.message };
}

/** Thrown by the validator of an update, refuses it. */
export const refusal = (type: 'RetryRefused' | 'TaskRequestRefused', message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, type);

/** A text of the request of an update, which operators may send as anything. */
export function textOf(request: unknown, field: string): string | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  const value: unknown = Reflect.get(request, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

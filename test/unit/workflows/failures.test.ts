import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { endOfChild, stepError } from '../../../workflows/run/failures.ts';

describe('a child workflow that has no result', () => {
  it.each([
    ['was cancelled', new CancelledFailure('cancelled')],
    ['was terminated', new TerminatedFailure('terminated')],
    ['timed out', new TimeoutFailure('Workflow execution timed out', undefined, 'START_TO_CLOSE')],
  ])('because it %s is a failure of its step, with its id, and no defect of the run', (how, cause) => {
    const execution = { workflowId: 'deploy_site:dc1/r1/deploy:a:1', runId: 'r2' };
    const error = new ChildWorkflowFailure('default', execution, 'run_call', 'NON_RETRYABLE_FAILURE', cause);
    expect(endOfChild(error)).toBe(`${execution.workflowId} ${how}`);
    expect(stepError(error)).toEqual({ type: cause.name, message: `${execution.workflowId} ${how}` });
  });
});

it('an activity that someone failed by hand has a kind', () => {
  const byHand = new ApplicationFailure('not today', '', true);
  const error = new ActivityFailure('failed', 'deploy_node', '7', 'NON_RETRYABLE_FAILURE', undefined, byHand);
  expect(stepError(error)).toEqual({ type: 'failed-by-hand', message: 'not today' });
});

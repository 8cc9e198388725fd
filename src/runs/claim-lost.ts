import { ApplicationFailure } from '@temporalio/common';
import { CLAIM_LOST } from '../core/run/failure.ts';
import { type RunSubject, subjectText } from '../core/run/subject.ts';

/** Ends a run whose site or cluster is another's. */
export const claimLost = (subject: RunSubject, why: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(
    `this run does not hold ${subjectText(subject)}: ${why}; this step changed nothing`,
    CLAIM_LOST,
  );

export const closedBefore = (subject: RunSubject, { runId }: { readonly runId: string }): ApplicationFailure =>
  claimLost(subject, `run ${runId} has ended and cannot be reset`);

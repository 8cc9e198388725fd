import type { ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';
import type { Pace } from '../src/core/site-run/index.js';

/**
 * Temporal's retries mean only "the worker, the store or MAAS was not there" (design §5): they never
 * give up, since giving up on an outage would fail a node that nothing is wrong with.
 */
const RETRY: NonNullable<ActivityOptions['retry']> = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
};

/** Reads and writes of the store. A minute is far above what they take and short enough to notice a hang. */
export const bookkeeping = (summary: string): ActivityOptions => ({
  startToCloseTimeout: '1 minute',
  retry: RETRY,
  summary,
});

/**
 * What takes longer than a read of the store: a plan, half a minute of computing for a thousand nodes, and questions to a
 * MAAS that may think for minutes over each. A dead worker is noticed sooner, and so is a cancellation.
 */
export const inquiry = (summary: string, heartbeatSeconds: number): ActivityOptions => ({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  summary,
});

/** A check that polls by itself until its own limit; the margin covers its last look. */
export const siteCheck = (summary: string, pace: Pace, heartbeatSeconds: number): ActivityOptions => ({
  startToCloseTimeout: (pace.timeout + 180) * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  summary,
});

/**
 * A node's call lasts as long as its group's call allows, and the workflow's clock decides that
 * (a paused run's clock stands still), so the limit here is only a backstop against a worker that
 * heartbeats for ever.
 */
export const nodeCall = (activityId: string, summary: string, heartbeatSeconds: number): ActivityOptions => ({
  activityId,
  summary,
  startToCloseTimeout: '7 days',
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  // Before the machine's work is aborted, nothing else may still work on it.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Aborting is bounded: when MAAS cannot be reached for this long the report says so and the run goes on. */
export const abortCall = (activityId: string, summary: string, heartbeatSeconds: number): ActivityOptions => ({
  activityId,
  summary,
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
});

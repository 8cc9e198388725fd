import type { ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType, workflowInfo } from '@temporalio/workflow';
import type { Pace } from '../src/core/site-run/index.ts';
import { sideQueue } from './protocol.ts';

/**
 * Temporal retries only while the worker, the store or MAAS is unavailable (docs/design.md#failures-are-results). The retries never
 * stop: otherwise an outage would fail a healthy node.
 */
const RETRY: NonNullable<ActivityOptions['retry']> = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
};

/** Reads and writes of the store. They take far less than a minute, which is still short enough to notice a hang. */
export const bookkeeping = (summary: string): ActivityOptions => ({
  startToCloseTimeout: '1 minute',
  retry: RETRY,
  summary,
});

/**
 * Work that takes longer than a read of the store: planning (half a minute for a thousand nodes) and requests to a MAAS
 * that may take minutes each. Heartbeats detect a dead worker or a cancellation earlier.
 */
export const inquiry = (summary: string, heartbeatSeconds: number): ActivityOptions => ({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  summary,
});

/** A check that polls until its own time limit. The margin covers the last poll. */
export const siteCheck = (summary: string, pace: Pace, heartbeatSeconds: number): ActivityOptions => ({
  startToCloseTimeout: (pace.timeout + 180) * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  summary,
});

/**
 * The workflow's clock limits a node's call, because the clock stops while the run is paused. The limit here
 * only guards against a worker that heartbeats forever.
 */
export const nodeCall = (activityId: string, summary: string, heartbeatSeconds: number): ActivityOptions => ({
  activityId,
  summary,
  taskQueue: sideQueue(workflowInfo().taskQueue, 'machines'),
  startToCloseTimeout: '7 days',
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  // The activity must have ended before MAAS is asked to abort its work.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Aborting has a time limit. If MAAS is unreachable for this long, the report notes it and the run continues. */
export const abortCall = (activityId: string, summary: string, heartbeatSeconds: number): ActivityOptions => ({
  activityId,
  summary,
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
});

import type { ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';

/** Temporal's retries mean only "the agent was not there: follow again" (design §5); they never give up. */
const FOLLOW_AGAIN: NonNullable<ActivityOptions['retry']> = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
};

/** Above a task's own limit, which its node enforces: time to report it. */
const MARGIN_SECONDS = 120;

/** However often a node that is there does not take its task, it is asked again within an hour. */
const LONGEST_WAIT_SECONDS = 3_600;

/** A ping is answered in milliseconds by an agent that is there. */
const PING_SECONDS = 20;

/** How agents are waited for; from the answer of `open_graph_run`. */
export interface Patience {
  readonly heartbeat_seconds: number;
  /** How long a node that does not answer is waited for. */
  readonly offline_wait_seconds: number;
  /** How much later than due rows and news may be written by a timer while tasks end all the time (`Pace`). */
  readonly busy_slack_seconds?: number;
}

/**
 * How long a task waits to be taken the n-th time it is sent: each time twice as long, so that a node that answers but
 * is busy with something else for days fills no history.
 */
export const takeSeconds = ({ offline_wait_seconds: wait }: Patience, times: number): number =>
  Math.max(wait, Math.min(wait * 2 ** (times - 1), LONGEST_WAIT_SECONDS));

/**
 * A task on its node's queue. Not being taken within the wait means "the node does not answer": the server never
 * retries that, the workflow decides.
 */
export const nodeTask = (
  activityId: string,
  summary: string,
  taskQueue: string,
  timeoutSeconds: number,
  patience: Patience,
  times = 1,
): ActivityOptions => ({
  activityId,
  summary,
  taskQueue,
  scheduleToStartTimeout: takeSeconds(patience, times) * 1000,
  startToCloseTimeout: (timeoutSeconds + MARGIN_SECONDS) * 1000,
  heartbeatTimeout: patience.heartbeat_seconds * 1000,
  retry: FOLLOW_AGAIN,
  // The next one on this node must not begin while this one still ends.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** A ping waits on the control queue as long as the node is waited for: it is answered when the agent returns. */
export const controlCall = (summary: string, taskQueue: string, patience: Patience): ActivityOptions => ({
  summary,
  taskQueue,
  scheduleToStartTimeout: patience.offline_wait_seconds * 1000,
  startToCloseTimeout: PING_SECONDS * 1000,
  scheduleToCloseTimeout: (patience.offline_wait_seconds + PING_SECONDS) * 1000,
  retry: FOLLOW_AGAIN,
});

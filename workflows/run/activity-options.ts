import { ActivityCancellationType, type ActivityOptions, workflowInfo } from '@temporalio/workflow';
import type { Pace } from '../../src/core/contracts/site-run.ts';
import { TASK_MARGIN_SECONDS } from '../../src/core/task-on-node.ts';
import type { Patience } from '../contract.ts';
import { sideQueue } from '../protocol.ts';

/**
 * Temporal retries only while the worker, the store or MAAS is unavailable (docs/explain/design.md#failures-are-results). The retries never
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

/** A read that is worth a few seconds of waiting, and no more. */
export const brief = (summary: string, seconds: number): ActivityOptions => ({
  ...bookkeeping(summary),
  scheduleToCloseTimeout: seconds * 1000,
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
 * A check that asks until it has a verdict. Where no worker does so in time, nothing is known: the run does not wait longer.
 *
 * @param seconds after which it has one
 */
export const checkCall = (summary: string, seconds: number, heartbeatSeconds: number): ActivityOptions => ({
  startToCloseTimeout: (seconds + CHECK_MARGIN_SECONDS) * 1000,
  scheduleToCloseTimeout: (seconds + 2 * CHECK_MARGIN_SECONDS) * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: RETRY,
  summary,
});

/** For the questions to MAAS about addresses, and a worker that takes over. */
const CHECK_MARGIN_SECONDS = 180;

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

/** A question to Temporal itself, on whose answer nothing depends. */
export const aside = (summary: string): ActivityOptions => ({
  startToCloseTimeout: '5 seconds',
  scheduleToCloseTimeout: '10 seconds',
  retry: RETRY,
  summary,
});

/** Temporal retries only while the agent is unavailable; the agent then follows the task again (docs/explain/design.md#failures-are-results). No limit. */
const FOLLOW_AGAIN: NonNullable<ActivityOptions['retry']> = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
};

/** The same, but for an agent without heartbeats, which the workflow asks. The name is the server's. */
const ASK_WHEN_SILENT = { ...FOLLOW_AGAIN, nonRetryableErrorTypes: ['TemporalTimeout:Heartbeat'] };

/** Longest first wait for an agent to take a task. After a reset, an agent that carries the attempt before is asked then. */
const MAX_TAKE_SECONDS = 60;

/** Longest wait before a task is sent again to a node that answers but does not take it. */
const LONGEST_WAIT_SECONDS = 3_600;

/** A running agent answers a ping in milliseconds. */
const PING_SECONDS = 20;

/** Time limits of one task: the worker's own agents are few, and send heartbeats as often as the worker. */
export type AgentPatience = Pick<Patience, 'heartbeat_seconds' | 'offline_wait_seconds'> &
  Partial<Pick<Patience, 'agent_heartbeat_seconds'>>;

export const ofMaster = ({ heartbeat_seconds, offline_wait_seconds }: Patience): AgentPatience => ({
  heartbeat_seconds,
  offline_wait_seconds,
});

/**
 * How long a task waits to be taken when it is sent for the n-th time. The wait doubles each time, so that a node that
 * answers but stays busy for days does not fill the history.
 */
export function takeSeconds(patience: AgentPatience, times: number): number {
  const { agent_heartbeat_seconds: ofAgents, offline_wait_seconds: offline } = patience;
  const wait = ofAgents === undefined ? offline : Math.min(offline, MAX_TAKE_SECONDS);
  return Math.max(wait, Math.min(wait * 2 ** (times - 1), LONGEST_WAIT_SECONDS));
}

/**
 * A task on its node's queue. If the node does not take it within the wait, the server does not retry: the workflow
 * decides, also when heartbeats are missing for the limit of agents.
 */
export const nodeTask = (
  activityId: string,
  summary: string,
  taskQueue: string,
  timeoutSeconds: number,
  patience: AgentPatience,
  times = 1,
): ActivityOptions => ({
  activityId,
  summary,
  taskQueue,
  scheduleToStartTimeout: takeSeconds(patience, times) * 1000,
  startToCloseTimeout: (timeoutSeconds + TASK_MARGIN_SECONDS) * 1000,
  heartbeatTimeout: (patience.agent_heartbeat_seconds ?? patience.heartbeat_seconds) * 1000,
  retry: patience.agent_heartbeat_seconds === undefined ? FOLLOW_AGAIN : ASK_WHEN_SILENT,
  // The next task on this node must not start before this one has ended.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** A ping waits on the control queue for the whole offline wait: the agent answers it when it returns. */
export const controlCall = (summary: string, taskQueue: string, waitSeconds: number): ActivityOptions => ({
  summary,
  taskQueue,
  scheduleToStartTimeout: waitSeconds * 1000,
  startToCloseTimeout: PING_SECONDS * 1000,
  scheduleToCloseTimeout: (waitSeconds + PING_SECONDS) * 1000,
  retry: FOLLOW_AGAIN,
});

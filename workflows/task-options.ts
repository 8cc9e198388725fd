import type { ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType } from '@temporalio/workflow';

/** Temporal retries only while the agent is unavailable; the agent then follows the task again (docs/design.md#failures-are-results). No limit. */
const FOLLOW_AGAIN: NonNullable<ActivityOptions['retry']> = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
};

/** The same, but for an agent without heartbeats, which the workflow asks. The name is the server's. */
const ASK_WHEN_SILENT = { ...FOLLOW_AGAIN, nonRetryableErrorTypes: ['TemporalTimeout:Heartbeat'] };

/** Time to report a task after its own limit, which the node enforces. */
const MARGIN_SECONDS = 120;

/** Longest first wait for an agent to take a task. After a reset, an agent that carries the attempt before is asked then. */
const MAX_TAKE_SECONDS = 60;

/** Longest wait before a task is sent again to a node that answers but does not take it. */
const LONGEST_WAIT_SECONDS = 3_600;

/** A running agent answers a ping in milliseconds. */
const PING_SECONDS = 20;

/** Time limits for agents, from the answer of `open_graph_run`. */
export interface Patience {
  readonly heartbeat_seconds: number;
  /**
   * The same for tasks on nodes, and then longer: it includes the wait for the next attempt, which the server then does not
   * schedule, so that an offline agent is detected as early.
   */
  readonly agent_heartbeat_seconds: number;
  /** How long to wait for a node that does not answer. */
  readonly offline_wait_seconds: number;
  /** How late a timer may write due rows and reports while tasks keep ending (`Pace`). */
  readonly busy_slack_seconds: number;
}

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
  startToCloseTimeout: (timeoutSeconds + MARGIN_SECONDS) * 1000,
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

import { callActivity } from './border.js';
import { controlQueue, nodeQueue } from './protocol.js';

/** A running agent answers in seconds. */
const ANSWER_MS = 60_000;

export interface DrainAgent {
  readonly site: string;
  readonly node: string;
  /** How long the agent is waited for. */
  readonly wait_ms: number;
}

export interface DrainedAgent {
  /** run/task/attempt of what goes on under its supervisor. */
  readonly unfinished: readonly string[];
}

/**
 * Has the agent of a node take nothing new and end; what runs stays with its supervisor. The order itself is in the
 * store, where `agent drain` has written it: an enrolled agent that is asked without one refuses.
 */
export async function drain_agent({ site, node, wait_ms }: DrainAgent): Promise<DrainedAgent> {
  return await callActivity(
    'drain',
    { node },
    {
      summary: `drain the agent of ${node}`,
      taskQueue: controlQueue(nodeQueue(site, node)),
      scheduleToStartTimeout: wait_ms,
      startToCloseTimeout: ANSWER_MS,
      // A second try would meet the next agent, which is not the one to drain.
      retry: { maximumAttempts: 1 },
    },
  );
}

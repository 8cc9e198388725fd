import { callActivity } from './border.js';
import { controlQueue, nodeQueue } from './protocol.js';

/** A running agent answers in seconds. */
const ANSWER_MS = 60_000;

export interface DrainAgent {
  readonly site: string;
  readonly node: string;
  /** How long to wait for the agent. */
  readonly wait_ms: number;
}

export interface DrainedAgent {
  /** run/task/attempt of the tasks that continue under its supervisor. */
  readonly unfinished: readonly string[];
}

/**
 * Asks the agent of a node to take no new tasks and exit. Running tasks stay with its supervisor. `agent drain` has
 * written the order to the store: an enrolled agent refuses without one.
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
      // A retry would reach the next agent, which must not be drained.
      retry: { maximumAttempts: 1 },
    },
  );
}

import { lineOf, objectOf, positiveInteger } from '../src/core/data/shape.ts';
import { MAX } from '../src/core/run/description.ts';
import { parseRunInput } from '../src/core/run/input.ts';
import { callActivity, validInput } from './border.ts';
import type { DrainAgent, DrainedAgent } from './contract.ts';
import { controlQueue, nodeQueue, prefixed } from './protocol.ts';

/** A running agent answers in seconds. */
const ANSWER_MS = 60_000;

const name = lineOf(MAX.name);
const drainAgent = objectOf<DrainAgent>({ site: name, node: name, prefix: name, wait_ms: positiveInteger }, [
  'site',
  'node',
  'wait_ms',
]);

/**
 * Asks the agent of a node to take no new tasks and exit. Running tasks stay with its supervisor. `agent drain` has
 * written the order to the store: an enrolled agent refuses without one.
 */
export async function drain_agent(...args: unknown[]): Promise<DrainedAgent> {
  const { site, node, prefix, wait_ms } = validInput(
    parseRunInput(drainAgent, args, '{"site":"dc1","node":"n1","wait_ms":60000}'),
  );
  return await callActivity(
    'drain',
    { node },
    {
      summary: `drain the agent of ${node}`,
      taskQueue: controlQueue(prefixed(prefix, nodeQueue(site, node))),
      scheduleToStartTimeout: wait_ms,
      startToCloseTimeout: ANSWER_MS,
      // A retry would reach the next agent, which must not be drained.
      retry: { maximumAttempts: 1 },
    },
  );
}

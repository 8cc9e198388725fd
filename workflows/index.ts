/** The only entry point of the workflow bundle. Its exports are the workflow types (workflows/protocol.ts), and the workflow for unknown types. */

import { workflowInfo } from '@temporalio/workflow';
import * as z from 'zod/mini';
import { lineOf, optional, positiveInteger } from '../src/core/data/schema.ts';
import { MAX } from '../src/core/run/description.ts';
import { parseRunInput } from '../src/core/run/input.ts';
import { unknownName } from '../src/core/text/did-you-mean.ts';
import { GRAPH_RUN_KIND, SITE_RUN_KINDS } from '../src/core/words.ts';
import type { DrainedAgent } from './contract.ts';
import { controlQueue, nodeQueue, prefixed } from './protocol.ts';
import { callActivity, validInput } from './run/border.ts';
import { failure } from './run/failures.ts';

export { coordinate_parts } from './graph/coordinate-parts.ts';
export { execute_graph } from './graph/execute-graph.ts';
export { run_graph_part } from './graph/run-graph-part.ts';
export { send_notice } from './run/notices.ts';
export { run_call } from './site/call.ts';
export { deploy_site, redeploy_nodes, test_site, update_site } from './site/site-workflows.ts';

/** A running agent answers in seconds. */
const ANSWER_MS = 60_000;

const name = lineOf(MAX.name);
const drainAgent = z.strictObject({ site: name, node: name, wait_ms: positiveInteger, ...optional({ prefix: name }) });

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

/** Ends a workflow whose type does not exist: otherwise the server would retry its first task for ever. */
export default async function unknown_workflow(): Promise<never> {
  const { workflowType } = workflowInfo();
  const known = [...SITE_RUN_KINDS, GRAPH_RUN_KIND];
  throw failure('UnknownWorkflowType', unknownName('workflow type', workflowType, known));
}

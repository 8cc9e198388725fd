import { join } from 'node:path';
import { folderName } from '../src/agent/index.js';
import {
  agentOptionsOf,
  loadPolicy,
  type NodePolicy,
  policyRefusal,
  type SshTarget,
} from '../src/agent/onboarding/index.js';
import { SshNode } from '../src/agent/ssh/index.js';
import type { Settings } from '../src/platform/settings/index.js';
import type { Logger } from '../src/platform/telemetry/log.js';
import { type AgentNode, type RunningAgents, startAgents } from './agent.js';
import { openLocalOrders } from './agent-orders.js';
import { encryptionOf } from './encryption.js';
import { programVersion } from './program-version.js';
import { openStateFolder } from './state-folder.js';

export interface RunAgentsOptions {
  /** Tasks run on this machine, which has no agent, over ssh; absent: on the machine of this process. */
  readonly ssh?: SshTarget;
  /** Policy the nodes are held to. A node reached over ssh is held to its own instead, if it has one. */
  readonly policyFile?: string;
}

/**
 * Runs agents of nodes with orders from the store: on machines that are trusted with it.
 *
 * @throws Error in words for the user when the policy cannot be read, StateFolderError
 */
export async function runAgents(
  settings: Settings,
  nodes: readonly AgentNode[],
  log: Logger,
  { ssh, policyFile }: RunAgentsOptions = {},
  stop?: AbortSignal,
): Promise<RunningAgents> {
  const policy = policyFile === undefined ? undefined : policyOf(policyFile);
  openStateFolder(settings.agent.state_dir);
  const { orders, control, close } = await openLocalOrders(settings);
  try {
    const agents = await startAgents(
      settings,
      nodes,
      log,
      {
        ordersOf: () => ({
          orders,
          control,
          // Over ssh the node's own policy comes first, and it is asked there.
          ...(policy === undefined || ssh !== undefined
            ? {}
            : { verify: (order) => policyRefusal(policy, order.execution, false) }),
        }),
        version: programVersion(),
        ...encryptionOf(settings),
        ...(policy === undefined ? {} : { agent: agentOptionsOf(policy) }),
        ...(ssh === undefined
          ? {}
          : {
              hostOf: ({ site, node }) =>
                new SshNode({
                  node,
                  target: ssh,
                  stateDir: join(settings.agent.state_dir, folderName(site)),
                  orders,
                  ...(policy === undefined ? {} : { policy }),
                }),
            }),
      },
      stop,
    );
    return { ...agents, done: agents.done.finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

function policyOf(file: string): NodePolicy {
  const reading = loadPolicy(file);
  if (reading.ok) return reading.policy;
  throw new Error(`the policy is not usable: ${reading.problems.map(({ message }) => message).join('; ')}`);
}

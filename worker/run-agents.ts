import { join } from 'node:path';
import { folderName } from '../src/agent/index.ts';
import { agentOptionsOf, policyRefusal, usablePolicy } from '../src/agent/onboarding/node-policy.ts';
import type { SshTarget } from '../src/agent/onboarding/ssh-command.ts';
import { SshNode } from '../src/agent/ssh/ssh-node.ts';
import { programVersion } from '../src/platform/installation.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import { type AgentNode, type RunningAgents, startAgents } from './agent.ts';
import { storeOrdersOf } from './agent-orders.ts';
import { encryptionOf } from './encryption.ts';
import { openStartGate } from './start-gate.ts';
import { openStateFolder } from './state-folder.ts';
import { openStoreWhenAvailable } from './store-when-available.ts';
import { tracesOf } from './traces.ts';

interface RunAgentsOptions {
  /** A machine without an agent on which to run tasks over ssh. Absent: tasks run on the machine of this process. */
  readonly ssh?: SshTarget;
  /** Policy of the nodes. A node reached over ssh may have its own, which then applies instead. */
  readonly policyFile?: string;
}

/**
 * Runs agents of nodes with orders from the store, on machines that may access it.
 *
 * @throws SetupError if the policy or the state folder cannot be used
 */
export async function runAgents(
  settings: Settings,
  nodes: readonly AgentNode[],
  log: Logger,
  { ssh, policyFile }: RunAgentsOptions = {},
  stop?: AbortSignal,
): Promise<RunningAgents> {
  const policy = policyFile === undefined ? undefined : usablePolicy(policyFile);
  openStateFolder(settings.agent.state_dir);
  const store = await openStoreWhenAvailable(settings.store.url, log, stop);
  const traces = tracesOf(settings, 'sitewright-agent', log);
  const gate = openStartGate(settings, store, log);
  const ordersOf = storeOrdersOf(settings, store, log, gate);
  const close = () => Promise.all([gate.close(), store.close(), traces?.stop()]);
  try {
    const agents = await startAgents(
      settings,
      nodes,
      log,
      {
        ordersOf: (node) => ({
          ...ordersOf(node),
          // Over ssh, `SshNode` applies the policy: the node's own comes first.
          ...(policy === undefined || ssh !== undefined
            ? {}
            : { verify: (order) => policyRefusal(policy, order.execution, false) }),
        }),
        version: programVersion(),
        ...encryptionOf(settings),
        ...(traces === undefined ? {} : { traces }),
        ...(policy === undefined ? {} : { agent: agentOptionsOf(policy) }),
        ...(ssh === undefined
          ? {}
          : {
              hostOf: ({ site, node }, orders) =>
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

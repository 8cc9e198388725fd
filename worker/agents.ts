import { join } from 'node:path';
import { agentOptionsOf, machinePolicy, policyRefusal } from '../src/agent/onboarding/node-policy.ts';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { given } from '../src/core/data/given.ts';
import { someOf } from '../src/core/text/text.ts';
import { programVersion } from '../src/platform/installation.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { createLogger, type Logger } from '../src/platform/telemetry/log.ts';
import { type AgentNode, type RunningAgents, startAgents } from './parts/agent.ts';
import { storeOrdersOf } from './parts/agent-orders.ts';
import { encryptionOf } from './parts/encryption.ts';
import { holdNodeFolders } from './parts/node-folders.ts';
import { installRuntime } from './parts/runtime.ts';
import { explainStart, serve } from './parts/serve.ts';
import { openStartGate } from './parts/start-gate.ts';
import { openStateFolder } from './parts/state-folder.ts';
import { openStoreWhenAvailable } from './parts/store-when-available.ts';
import { tracesOf } from './parts/traces.ts';

/**
 * Runs agents of nodes with orders from the store, on machines that may access it.
 *
 * @throws SetupError if the policy or the state folder cannot be used
 */
export async function runAgents(
  settings: Settings,
  nodes: readonly AgentNode[],
  log: Logger,
  policyFile?: string,
  stop?: AbortSignal,
): Promise<RunningAgents> {
  const policy = machinePolicy(policyFile);
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
          ...(policy === undefined ? {} : { verify: (order) => policyRefusal(policy, order.execution, false) }),
        }),
        version: programVersion(),
        ...encryptionOf(settings),
        ...given({ traces }),
        ...(policy === undefined ? {} : { agent: agentOptionsOf(policy) }),
      },
      stop,
    );
    return { ...agents, done: agents.done.finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs node agents in this process until Ctrl-C, SIGTERM or all are drained. */
export async function serveAgents(
  terminal: Terminal,
  settings: Settings,
  nodes: readonly AgentNode[],
  policyFile?: string,
): Promise<void> {
  const release = await holdNodeFolders(settings.agent.state_dir, nodes);
  await serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log, false);
    const agents = await runAgents(settings, nodes, log, policyFile, terminal.interrupted());
    const names = nodes.map(({ site, node }) => `${site}/${node}`);
    return {
      done: agents.done,
      stop: () => agents.stop(),
      said: `agent ready for ${someOf(names, 5)}`,
    };
  }).finally(release);
}

/** Does something while this process is the agent of a node. Its journal stays below the working folder. */
export async function withLocalAgent<Result>(
  terminal: Terminal,
  settings: Settings,
  node: AgentNode,
  work: () => Promise<Result>,
): Promise<Result> {
  const log = createLogger({ ...settings.log, level: 'warn' }, 'agent');
  installRuntime(log, false);
  const agent = { ...settings.agent, state_dir: join(terminal.cwd, '.sitewright', 'local-agent') };
  const agents = await runAgents({ ...settings, agent }, [node], log, undefined, terminal.interrupted()).catch(
    (error: unknown) => {
      throw explainStart(error, settings, 'agent');
    },
  );
  try {
    return await work();
  } finally {
    await agents.stop();
  }
}

import { type AgentNode, startAgents } from '../../../worker/agent.js';
import { openLocalOrders } from '../../../worker/agent-orders.js';
import { encryptionOf } from '../../../worker/encryption.js';
import { programVersion } from '../../../worker/program-version.js';
import { installRuntime } from '../../../worker/runtime.js';
import type { Settings } from '../../config/index.js';
import type { Terminal } from '../terminal.js';
import { serve } from './serve.js';

/** Runs node agents in this process until Ctrl-C, SIGTERM, or until all are drained. */
export function serveAgents(terminal: Terminal, settings: Settings, nodes: readonly AgentNode[]): Promise<void> {
  return serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log, false);
    const { orders, close } = await openLocalOrders(settings);
    const options = { ordersOf: () => ({ orders }), version: programVersion(), ...encryptionOf(settings) };
    const agents = await startAgents(settings, nodes, log, options, terminal.interrupted());
    const names = nodes.map(({ site, node }) => `${site}/${node}`);
    return {
      done: agents.done.finally(() => close()),
      stop: () => agents.stop(),
      said: `agent ready for ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`,
    };
  });
}

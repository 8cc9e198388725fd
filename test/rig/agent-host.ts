// Node agents as a separate process, for tests that kill it; `argv[2]` is the order as JSON.
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { startAgents } from '../../worker/parts/agent.ts';
import { installRuntime } from '../../worker/parts/runtime.ts';
import type { AgentHostOrder } from './agent-host-process.ts';
import { countedOrders, obeysTemporal } from './agent-orders.ts';

const order = JSON.parse(process.argv[2]!) as AgentHostOrder;
const log = createLogger({ level: 'warn', format: 'json' }, 'agent');
installRuntime(log, false);
const settings = {
  temporal: { address: order.address, namespace: 'default', task_queue: 'unused' },
  agent: { state_dir: order.stateDir, keep_days: 14 },
};
const orders = countedOrders(order.folder);
const agents = await startAgents(settings, order.nodes, log, {
  ordersOf: () => ({ orders, control: obeysTemporal }),
  version: order.version,
  agent: { supervisorCommand: order.supervisor, ...order.agent },
});
process.on('SIGTERM', () => void agents.stop());
process.stdout.write('ready\n');
await agents.done;
process.exit(0);

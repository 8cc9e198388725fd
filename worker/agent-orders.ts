import type { OrderSource, OrderVerifier } from '../src/agent/index.js';
import { TaskLogs } from '../src/agent-logs/index.js';
import type { Settings } from '../src/config/index.js';
import { sourceFilesBelow } from '../src/gateway/index.js';
import { environmentSecrets, firstOf } from '../src/secrets/index.js';
import { openStore } from '../src/store/index.js';
import type { AgentNode } from './agent.js';
import { storeOrders } from './store-orders.js';

/** Where the agents of this process get their orders. */
export interface AgentOrders {
  of(node: AgentNode): { readonly orders: OrderSource; readonly verify?: OrderVerifier };
  close(): Promise<void>;
}

/** Orders from the store the settings name: for machines that are trusted with it. */
export async function agentOrders(settings: Settings): Promise<AgentOrders> {
  const store = await openStore(settings.store.url);
  const orders = storeOrders({
    store,
    logs: taskLogs(settings),
    secrets: firstOf([environmentSecrets('SITEWRIGHT_SECRET_')]),
    readSource: (path) => sourceFilesBelow(['/etc/sitewright/sources']).read(path),
  });
  return { of: () => ({ orders }), close: () => store.close() };
}

/** The output of tasks, where the settings say. */
export const taskLogs = ({ task_logs }: Pick<Settings, 'task_logs'>): TaskLogs =>
  new TaskLogs({ folder: task_logs.folder, bytesPerStream: Math.round(task_logs.megabytes * 1024 * 1024) });

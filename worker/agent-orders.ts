import { isAbsolute } from 'node:path';
import type { ControlJudge, OrderSource } from '../src/agent/index.js';
import { sourceFilesBelow } from '../src/gateway/index.js';
import type { Settings } from '../src/platform/settings/index.js';
import { openStore, type Store } from '../src/store/index.js';
import { secretsOf } from './gateway.js';
import { storeControl } from './store-control.js';
import { storeOrders } from './store-orders.js';
import { taskLogs } from './task-logs.js';

/** Orders from the store, for agents on machines that may access it. */
export function localOrders(settings: Settings, store: Store): OrderSource {
  const sources = sourceFilesBelow(settings.gateway.source_roots.split(':').filter(isAbsolute));
  return storeOrders({
    store,
    logs: taskLogs(settings),
    secrets: secretsOf(settings),
    readSource: (path) => sources.read(path),
  });
}

/** Opens the store for such orders; close it at the end. */
export async function openLocalOrders(
  settings: Settings,
): Promise<{ orders: OrderSource; control: ControlJudge; close(): Promise<void> }> {
  const store = await openStore(settings.store.url);
  return { orders: localOrders(settings, store), control: storeControl(store), close: () => store.close() };
}

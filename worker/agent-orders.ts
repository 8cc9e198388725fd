import { isAbsolute } from 'node:path';
import type { OrderSource } from '../src/agent/index.js';
import { auditedAlarms, sourceFilesBelow } from '../src/gateway/index.js';
import { withPackageSources } from '../src/ops/packages/index.js';
import type { Settings } from '../src/platform/settings/index.js';
import type { Logger } from '../src/platform/telemetry/log.js';
import type { Store } from '../src/store/index.js';
import type { StartAgentsOptions } from './agent.js';
import { archiveLimitsOf } from './archive-limits.js';
import { secretsOf } from './gateway.js';
import type { StartGate } from './start-gate.js';
import { storeControl } from './store-control.js';
import { type StoreOrdersParts, storeOrders } from './store-orders.js';
import { taskLogs } from './task-logs.js';

/** Orders from the store, for agents on machines that may access it. */
export function localOrders(settings: Settings, store: Store, gate: StoreOrdersParts['gate']): OrderSource {
  const files = sourceFilesBelow(settings.gateway.source_roots.split(':').filter(isAbsolute));
  const sources = withPackageSources(files, store.packages, archiveLimitsOf(settings));
  return storeOrders({
    store,
    logs: taskLogs(settings),
    secrets: secretsOf(settings),
    readSource: (path) => sources.read(path),
    gate,
  });
}

/** What agents use that may access the store. */
export function storeOrdersOf(
  settings: Settings,
  store: Store,
  log: Logger,
  gate: StartGate,
): StartAgentsOptions['ordersOf'] {
  const orders = localOrders(settings, store, gate);
  const control = storeControl(store);
  const alarms = auditedAlarms(store.audit, log);
  return ({ site, node }) => ({
    orders,
    control,
    alarm: (kind, message, { run, task, generation }) =>
      alarms({ site, node, kind, message, details: { run, task, generation } }),
  });
}

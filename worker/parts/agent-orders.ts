import { isAbsolute } from 'node:path';
import type { OrderSource } from '../../src/agent/index.ts';
import { auditedAlarms, sourceFilesBelow } from '../../src/gateway/index.ts';
import { withPackageSources } from '../../src/ops/packages/index.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import type { Store } from '../../src/store/index.ts';
import type { StartAgentsOptions } from './agent.ts';
import { archiveLimitsOf, secretsOf, taskLogs } from './of-settings.ts';
import { storeControl } from './operator-orders.ts';
import type { StartGate } from './start-gate.ts';
import { storeOrders } from './store-orders.ts';

/** Orders from the store, for agents on machines that may access it. */
export function localOrders(
  settings: Settings,
  store: Store,
  gate: Parameters<typeof storeOrders>[0]['gate'],
): OrderSource {
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

/** Dependencies of agents with access to the store. */
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

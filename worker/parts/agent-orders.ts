import { isAbsolute } from 'node:path';
import type { OrderSource } from '../../src/agent/index.ts';
import { type Alarms, auditedAlarms, type Caller, sourceFilesBelow } from '../../src/gateway/index.ts';
import { withPackageSources } from '../../src/ops/packages/package-sources.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import type { Store } from '../../src/store/index.ts';
import type { StartAgentsOptions } from './agent.ts';
import { storeOrderBook } from './gateway-orders.ts';
import { archiveLimitsOf, secretsOf, taskLogs } from './of-settings.ts';
import { storeControl } from './operator-orders.ts';
import type { SigningGate } from './start-gate.ts';
import { storeOrders } from './store-orders.ts';

/** Orders from the store, for agents on machines that may access it. */
export function localOrders(
  settings: Settings,
  store: Store,
  alarms: Alarms,
  gate: SigningGate,
): (caller: Caller) => OrderSource {
  const files = sourceFilesBelow(settings.gateway.source_roots.split(':').filter(isAbsolute));
  return storeOrders({
    store,
    orders: storeOrderBook(store, gate),
    logs: taskLogs(settings),
    secrets: secretsOf(settings),
    sources: withPackageSources(files, store.packages, archiveLimitsOf(settings)),
    alarms,
  });
}

/** Dependencies of agents with access to the store. */
export function storeOrdersOf(
  settings: Settings,
  store: Store,
  log: Logger,
  gate: SigningGate,
): StartAgentsOptions['ordersOf'] {
  const alarms = auditedAlarms(store.audit, log);
  const orders = localOrders(settings, store, alarms, gate);
  const control = storeControl(store);
  return ({ site, node }) => ({
    orders: orders({ site, node }),
    control,
    alarm: (kind, message, { run, task, generation }) =>
      alarms({ site, node, kind, message, details: { run, task, generation } }),
  });
}

import type { MaasParts } from '../../activities/node/task-maas.ts';
import { maasTask } from '../../activities/node/task-maas.ts';
import { assertMayStart, type Gate, proveClaim } from '../../activities/run/fencing.ts';
import { OrderRefused } from '../../src/agent/index.ts';
import { maasTaskTypes } from '../../src/agent/master/index.ts';
import { MAAS_CALLS } from '../../src/clusters/agent-address.ts';
import { given } from '../../src/core/data/given.ts';
import { auditedAlarms } from '../../src/gateway/index.ts';
import { programVersion } from '../../src/platform/installation.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import type { StartedLookup } from '../../src/runs/started-lookup.ts';
import { type NodeHost, type RunningAgents, type StartAgentsOptions, startAgents } from './agent.ts';
import { localOrders, storeOrdersOf } from './agent-orders.ts';
import { graphOfRun } from './graph-of-run.ts';
import { machinesOfNodes } from './node-machine.ts';
import { endsIdentities } from './node-user-data.ts';
import { signingGate } from './start-gate.ts';

/**
 * Serves the queue of what nodes cannot do themselves and MAAS does for them: typed calls, and nothing else. A task that a
 * graph places on `master` belongs to the agent of that node, never to a worker.
 */
export async function startMaasCalls(
  settings: Settings,
  log: Logger,
  parts: Gate &
    Pick<MaasParts, 'maas' | 'silence'> &
    Pick<StartAgentsOptions, 'dataConverter' | 'traces'> & { readonly started: StartedLookup },
): Promise<RunningAgents> {
  const { store, maas, dataConverter, traces } = parts;
  const gate = signingGate(store, parts, parts.started);
  // These tasks ask before their first change.
  const orders = localOrders(settings, store, auditedAlarms(store.audit, log), {
    ...gate,
    mayStart: async () => undefined,
  });
  const endIdentity = endsIdentities(store);
  const machineOf = machinesOfNodes(store);
  const asked = (ask: typeof proveClaim | typeof assertMayStart) => async (run: string) => {
    const clusterId = (await graphOfRun(store, run))?.run.clusterId;
    // Without its cluster, its order was refused before.
    if (clusterId != null) await ask(parts, { cluster: clusterId });
  };
  const deps: MaasParts = {
    ...{ maas, orders, machineOf, endIdentity, givenTags: store.givenTags },
    ...{ mayStart: asked(assertMayStart), prove: asked(proveClaim) },
    ...given({ silence: parts.silence }),
  };
  return startAgents(settings, [MAAS_CALLS], log, {
    ordersOf: storeOrdersOf(settings, store, log, gate),
    hostOf: () => NO_AGENT,
    version: programVersion(),
    ...given({ dataConverter, traces }),
    further: { types: [...maasTaskTypes.keys()], run: (request) => maasTask(deps, request) },
  });
}

const notHere = (): never => {
  throw new OrderRefused('a worker runs no tasks but those that MAAS carries out');
};

/** Executes nothing. */
const NO_AGENT: NodeHost = {
  execution: () => undefined,
  hasStarted: () => false,
  generations: () => [],
  ensure: notHere,
  follow: notHere,
  cancel: () => undefined,
  facts: () => ({ node: MAAS_CALLS.node, bootId: '', taskTypes: [], containment: 'process-walk', unfinished: [] }),
  recover: async () => [],
  forgetBefore: () => undefined,
};

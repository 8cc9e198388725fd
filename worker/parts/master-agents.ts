import { assertMayStart, type Gate } from '../../activities/fencing.ts';
import type { MaasParts } from '../../activities/node-task-maas.ts';
import { maasTask } from '../../activities/node-task-maas.ts';
import { maasTaskTypes } from '../../src/agent/master/index.ts';
import { agentAddress } from '../../src/clusters/agent-address.ts';
import { given } from '../../src/core/data/given.ts';
import { programVersion } from '../../src/platform/installation.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import type { StartedLookup } from '../../src/platform/temporal/started-lookup.ts';
import { type RunningAgents, type StartAgentsOptions, startAgents } from './agent.ts';
import { localOrders, storeOrdersOf } from './agent-orders.ts';
import { graphOfRun } from './graph-of-run.ts';
import { machinesOfNodes } from './node-machine.ts';
import { endsIdentities } from './node-user-data.ts';
import { signingGate } from './start-gate.ts';
import { openStateFolder, StateFolderError } from './state-folder.ts';

/** How often to look for clusters that have no agent here yet. */
const POLL_MS = 3_000;

/**
 * The agents called `master`, one per cluster. They run tasks that graphs place on the orchestrator's own host, and
 * do through MAAS what nodes cannot do themselves.
 */
export async function startMasterAgents(
  settings: Settings,
  log: Logger,
  parts: Gate &
    Pick<MaasParts, 'maas' | 'silence'> &
    Pick<StartAgentsOptions, 'dataConverter' | 'traces'> & { readonly started: StartedLookup },
): Promise<RunningAgents> {
  const { store, maas, dataConverter, traces } = parts;
  const gate = signingGate(store, parts, parts.started);
  // These tasks ask before their first change.
  const orders = localOrders(settings, store, log, { ...gate, mayStart: async () => undefined });
  const endIdentity = endsIdentities(store);
  const machineOf = machinesOfNodes(store);
  try {
    openStateFolder(settings.agent.state_dir);
  } catch (error) {
    // The rest of the worker needs no journal.
    if (!(error instanceof StateFolderError)) throw error;
    log.warn({ hint: error.problem.hint }, `tasks on the orchestrator's own host will fail: ${error.message}`);
  }
  const agents = await startAgents(settings, [], log, {
    ordersOf: storeOrdersOf(settings, store, log, gate),
    version: programVersion(),
    staysEmpty: true,
    ...given({ dataConverter, traces }),
    further: {
      types: [...maasTaskTypes.keys()],
      run: (request) =>
        maasTask(
          {
            maas,
            orders,
            machineOf,
            async mayStart(run) {
              const clusterId = (await graphOfRun(store, run))?.run.clusterId;
              // Without its cluster, its order was refused before.
              if (clusterId != null) await assertMayStart(parts, { cluster: clusterId });
            },
            endIdentity,
            ...given({ silence: parts.silence }),
          },
          request,
        ),
    },
  });
  const served = new Set<string>();
  const look = async (): Promise<void> => {
    for (const cluster of await store.clusters.list()) {
      const { site, node } = agentAddress({ cluster: cluster as never, nodes: [] }, 'master');
      if (served.has(site)) continue;
      served.add(site);
      await agents.add({ site, node });
    }
  };
  const lookAgain = () =>
    void look().catch((error: unknown) => log.warn({ error: String(error) }, 'clusters could not be listed'));
  await look();
  const looking = setInterval(lookAgain, POLL_MS);
  void agents.done.finally(() => clearInterval(looking)).catch(() => undefined);
  return agents;
}

import { MaasConfigurationError } from '@sitewright/maas';
import { createActivities } from '../../activities/index.ts';
import { type Planner, plannerHere } from '../../src/clusters/planning/index.ts';
import type { Store } from '../../src/store/index.ts';

/** The activities of a worker that has a store and nothing else: each execution is open, no run is paused, MAAS is not configured. */
export const storeActivities = (store: Store, max_parallel_nodes = 64, planner: Planner = plannerHere()) =>
  createActivities({
    store,
    maas: () => {
      throw new MaasConfigurationError(['no MAAS here']);
    },
    hold: async () => ({ paused: null, stopping: false }),
    end: async () => null,
    tried: async () => [],
    execution: async (_workflow, run) => ({ runId: run ?? '', isOpen: true, children: [], errors: {} }),
    searchAttributes: async () => [],
    planner,
    settings: { max_parallel_nodes, heartbeat_seconds: 5 },
  });

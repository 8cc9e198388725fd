import { machineState, recordAfter, type WholeMachine } from '@sitewright/maas';
import type { Store } from '../../src/store/index.ts';
import type { NodeCall } from '../contract.ts';

/**
 * Records the state of a deployed machine in MAAS, for `site drift`.
 *
 * @param isReinstalled by this call; otherwise the record of its deployment stays
 * @param tags that the documents give the node, and that they gave it before
 */
export async function recordDeployed(
  store: Store,
  { site, node, run_id, revision }: NodeCall,
  whole: WholeMachine,
  isReinstalled: boolean,
  tags: Parameters<typeof recordAfter>[2],
): Promise<void> {
  const { systemId } = whole.machine;
  const found = isReinstalled ? undefined : await store.deployedMachines.get(site, node);
  const earlier = found?.systemId === systemId ? found : undefined;
  const now = machineState(whole);
  const state = recordAfter(earlier?.state, now, tags);
  const isKept = earlier !== undefined && state !== now;
  await store.deployedMachines.put({
    ...{ site, node, systemId, revision, state },
    runId: isKept ? earlier.runId : run_id,
    at: isKept ? earlier.at : new Date().toISOString(),
  });
}

import { calledText } from '../../core/names.ts';
import type { StorePorts } from '../../store/index.ts';
import { problem } from '../problem.ts';

/** A run plans with the cluster's current nodes, which must not change during it. @throws `conflict` with the run */
export async function refuseWhileBusy(
  store: Pick<StorePorts, 'claims' | 'clusters'>,
  cluster: number,
  what: string,
): Promise<void> {
  const holder = await store.claims.holder({ cluster });
  if (holder === null) return;
  const named = calledText('cluster', await store.clusters.brief(cluster));
  throw problem('conflict', `${what} while a run works on ${named}`, {
    hint: `Wait until it ends, or stop it: PUT /api/v1/clusters/${cluster}/stop_deployment.`,
    run: { id: holder.runId, workflow_id: holder.workflowId },
  });
}

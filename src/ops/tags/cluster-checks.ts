import { type ClusterFinding, checkCluster } from '../../clusters/checks/index.js';
import { readClusterSources } from '../../clusters/index.js';
import type { GraphRequest } from '../../core/graph-run/index.js';
import type { OpsDependencies } from '../dependencies.js';
import { inFuelTerms } from '../graphs/fuel-terms.js';
import { problem } from '../problem.js';

export interface ClusterCheckOperations {
  /** Problems of a cluster before a run; of nodes only the problems of the given ones. */
  check(cluster: number, nodes?: readonly number[]): Promise<readonly ClusterFinding[]>;
}

export const clusterChecks = ({ store }: Pick<OpsDependencies, 'store'>): ClusterCheckOperations =>
  inFuelTerms({
    check: async (cluster: number, nodes?: readonly number[]) =>
      checkCluster(await readClusterSources(store, cluster), nodes === undefined ? {} : { nodes }),
  });

/**
 * Refuses a run for errors of its cluster, and returns the other findings. Offline nodes and limits matter only to a
 * deployment of the whole cluster: a graph of another type, or for chosen nodes or tasks, may run on an incomplete
 * cluster.
 *
 * @throws `invalid` with all errors at once
 */
export async function refuseUnfitCluster(
  deps: Pick<OpsDependencies, 'store'>,
  cluster: number,
  graphs: readonly GraphRequest[],
): Promise<readonly ClusterFinding[]> {
  const deploys = graphs.some(
    ({ type, nodes, tasks }) => type === 'default' && nodes === undefined && (tasks ?? []).length === 0,
  );
  const found = await clusterChecks(deps).check(cluster, chosenNodes(graphs));
  const counts = ({ code }: ClusterFinding): boolean => deploys || !OF_WHOLE_CLUSTERS.includes(code);
  const errors = found.filter((one) => one.severity === 'error' && counts(one));
  if (errors.length === 0) return found;
  throw problem('invalid', errors.map(({ message }) => message).join(' '), {
    errors: errors.map(({ nodes: _nodes, role: _role, tags: _tags, ...one }) => one),
    hint: `${errors[0]!.hint ?? 'Correct the cluster.'} GET /api/v1/clusters/${cluster}/checks shows all findings; use force to run anyway.`,
  });
}

/** Undefined: all nodes of the cluster. */
export const chosenNodes = (graphs: readonly GraphRequest[]): readonly number[] | undefined =>
  graphs.every(({ nodes }) => nodes !== undefined) ? graphs.flatMap(({ nodes = [] }) => nodes) : undefined;

const OF_WHOLE_CLUSTERS = ['check.nodes-offline', 'check.role-below-minimum', 'check.role-above-maximum'];

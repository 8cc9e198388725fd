import { type ClusterFinding, checkCluster } from '../../clusters/checks/index.js';
import { readClusterSources } from '../../clusters/index.js';
import type { GraphRequest } from '../../core/graph-run/index.js';
import type { OpsDependencies } from '../dependencies.js';
import { inFuelWords } from '../graphs/fuel-words.js';
import { problem } from '../problem.js';

export interface ClusterCheckOperations {
  /** What is wrong with a cluster before a run; of single nodes only what is wrong with these. */
  check(cluster: number, nodes?: readonly number[]): Promise<readonly ClusterFinding[]>;
}

export const clusterChecks = ({ store }: Pick<OpsDependencies, 'store'>): ClusterCheckOperations =>
  inFuelWords({
    check: async (cluster: number, nodes?: readonly number[]) =>
      checkCluster(await readClusterSources(store, cluster), nodes === undefined ? {} : { nodes }),
  });

/**
 * Refuses a run for errors of its cluster; answers what else there is to say. Nodes that are away and limits matter to
 * a deployment of the whole cluster only: a graph of another type, or for chosen nodes or tasks, may well run on a
 * cluster that is not complete.
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
    hint: `${errors[0]!.hint ?? 'Correct the cluster.'} GET /api/v1/clusters/${cluster}/checks tells everything; force runs all the same.`,
  });
}

/** Undefined: all nodes of the cluster. */
export const chosenNodes = (graphs: readonly GraphRequest[]): readonly number[] | undefined =>
  graphs.every(({ nodes }) => nodes !== undefined) ? graphs.flatMap(({ nodes = [] }) => nodes) : undefined;

const OF_WHOLE_CLUSTERS = ['check.nodes-offline', 'check.role-below-minimum', 'check.role-above-maximum'];

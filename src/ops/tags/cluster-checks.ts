import { type ClusterFinding, checkCluster } from '../../clusters/checks/check-cluster.ts';
import { findingsForRun } from '../../clusters/checks/run-findings.ts';
import type { GraphRequest } from '../../core/graph-run/index.ts';
import { missingAgents } from '../agent-presence.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { inFuelTerms } from '../graphs/fuel-terms.ts';
import { problem } from '../problem.ts';
import { readSources } from './read-sources.ts';

export const clusterChecks = (deps: Pick<OpsDependencies, 'store' | 'temporal' | 'tagExtensions'>) =>
  inFuelTerms({
    /** Problems of a cluster before a run; of nodes only the problems of the given ones. */
    async check(cluster: number, nodes?: readonly number[]): Promise<readonly ClusterFinding[]> {
      const found = checkCluster(await readSources(deps, cluster), nodes === undefined ? {} : { nodes });
      return [...found, ...(await missingAgents(deps, cluster, nodes))];
    },
  });

/** Refuses a run for errors of its cluster, unless it is forced; returns the other findings. @throws `invalid` with all errors */
export async function refuseUnfitCluster(
  deps: Pick<OpsDependencies, 'store' | 'tagExtensions'>,
  cluster: number,
  graphs: readonly GraphRequest[],
  force: boolean,
): Promise<readonly ClusterFinding[]> {
  const found = findingsForRun(await readSources(deps, cluster), graphs);
  const errors = found.filter(({ severity }) => severity === 'error');
  if (force || errors.length === 0) return found;
  throw problem('invalid', errors.map(({ message }) => message).join(' '), {
    errors: errors.map(({ nodes: _nodes, role: _role, tags: _tags, ...one }) => one),
    hint: `${errors[0]!.hint ?? 'Correct the cluster.'} GET /api/v1/clusters/${cluster}/checks shows all findings; use force to run anyway.`,
  });
}

import { type ClusterFinding, checkCluster } from '../../clusters/checks/check-cluster.ts';
import { given } from '../../core/data/given.ts';
import { missingAgents } from '../agent-presence.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { inFuelTerms } from '../graphs/fuel-terms.ts';
import { readSources } from './read-sources.ts';

export const clusterChecks = (deps: Pick<OpsDependencies, 'store' | 'temporal' | 'tagExtensions'>) =>
  inFuelTerms({
    /** Problems of a cluster before a run; of nodes only the problems of the given ones. */
    async check(cluster: number, nodes?: readonly number[]): Promise<readonly ClusterFinding[]> {
      const found = checkCluster(await readSources(deps, cluster), given({ nodes }));
      return [...found, ...(await missingAgents(deps, cluster, nodes))];
    },
  });

import type { ClusterState } from '../graph/index.js';
import type { TaskStates } from '../store/index.js';
import { clusterState, type Surroundings } from './cluster-state.js';
import { newestState } from './old-states.js';
import type { ClusterSources } from './sources.js';
import { tagCluster } from './tagged-cluster.js';

/**
 * The two states of a cluster, with all its nodes, that expressions compare: the current one, and the one of the last
 * successful task (null before that). For trying out expressions.
 */
export function clusterStates(
  sources: ClusterSources,
  stored: TaskStates,
  surroundings: Surroundings = {},
): { readonly now: ClusterState; readonly before: ClusterState | null } {
  const tagged = tagCluster(
    sources,
    sources.nodes.map(({ id }) => id),
  );
  return { now: clusterState(sources, tagged.nodes, surroundings), before: newestState(stored) ?? null };
}

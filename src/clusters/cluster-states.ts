import type { ClusterState } from '../graph/index.js';
import type { TaskStates } from '../store/index.js';
import { clusterState, type Surroundings } from './cluster-state.js';
import { newestState } from './old-states.js';
import type { ClusterSources } from './sources.js';
import { tagCluster } from './tagged-cluster.js';

/**
 * The two states of a cluster that expressions compare, all its nodes included: what it is to be now, and what it was
 * when a task last ended well (null before that). For trying expressions out.
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

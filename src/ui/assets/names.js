// Names of objects stored by number.
import { listsChanged, useData } from './store.js';

/** Names of clusters by their ids. */
export function useClusterNames() {
  const { data } = useData('/api/v1/clusters', { again: listsChanged.value });
  return new Map((data ?? []).map(({ id, name }) => [id, name]));
}

/** Names of a cluster's nodes by their ids, as text. */
export function useNodeNames(cluster) {
  const { data } = useData(cluster === undefined ? null : `/api/v1/nodes?cluster_id=${cluster}`);
  return Object.fromEntries((data ?? []).map(({ id, name }) => [String(id), name]));
}

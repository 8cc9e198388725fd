// Names of objects stored by number.
import { at } from './api.ts';
import { listsChanged, useData } from './store.ts';

/** Names by id. */
export type Names = Readonly<Record<string, string>>;

/** Names of clusters by their ids. */
export function useClusterNames(): ReadonlyMap<number, string> {
  const { data } = useData(at('GET /clusters'), { again: listsChanged.value });
  return new Map((data ?? []).map(({ id, name }) => [id, name]));
}

/** Names of a cluster's nodes by their ids, as text. */
export function useNodeNames(cluster: number | null): Names {
  const { data } = useData(cluster === null ? null : at('GET /nodes', { query: { cluster_id: cluster } }));
  return Object.fromEntries((data ?? []).map(({ id, name }) => [String(id), name]));
}

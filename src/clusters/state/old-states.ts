import { hasSystem } from '../../core/node-system.ts';
import type { ClusterState, OldStates } from '../../graph/index.ts';
import type { SavedStates } from '../../store/index.ts';
import { type ClusterNode, type ClusterSources, uidOf } from '../sources.ts';

/**
 * Whether tasks on a node treat everything as changed: it is new, or its system is. What a run left undone on it, or a task that
 * failed there, is no reason: the states say for each task what it left the last time.
 */
const isFresh = (node: Pick<ClusterNode, 'pendingAddition' | 'status' | 'errorType'>): boolean =>
  node.pendingAddition || node.status === 'provisioned' || !hasSystem(node);

/**
 * The states that `old()` and `changed()` compare with: for each (task, node), the state of the last success. Fresh
 * nodes have none.
 */
export function oldStatesOf(sources: ClusterSources, stored: SavedStates): OldStates {
  const fresh = new Set(sources.nodes.filter(isFresh).map(uidOf));
  const onNodes = new Map<string, Map<string, string>>();
  const newest = new Map<string, { readonly at: string; readonly state: string }>();
  const digests = new Map<string, Map<string, string>>();
  const used = new Set<string>();
  for (const { task, node, state, at, digest } of stored.tasks) {
    if (fresh.has(node)) continue;
    if (at >= (newest.get(task)?.at ?? '')) newest.set(task, { at, state });
    const nodes = onNodes.get(task) ?? new Map<string, string>();
    onNodes.set(task, nodes.set(node, state));
    used.add(state);
    const known = digests.get(task) ?? new Map<string, string>();
    digests.set(task, known.set(node, digest));
  }
  const states = [...used].map((name) => [name, JSON.parse(stored.states[name]!) as ClusterState]);
  return {
    states: Object.fromEntries(states),
    tasks: Object.fromEntries([...newest].map(([task, { state }]) => [task, state])),
    onNodes: Object.fromEntries([...onNodes].map(([task, nodes]) => [task, Object.fromEntries(nodes)])),
    digests,
  };
}

/** The cluster's state at the last successful task; undefined before the first success. */
export function newestState(stored: SavedStates): Required<ClusterState> | undefined {
  const newest = stored.tasks.reduce<SavedStates['tasks'][number] | undefined>(
    (best, one) => (best === undefined || one.at > best.at ? one : best),
    undefined,
  );
  return newest === undefined ? undefined : (JSON.parse(stored.states[newest.state]!) as Required<ClusterState>);
}

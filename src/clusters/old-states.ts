import type { ClusterState, OldStates } from '../graph/index.js';
import type { TaskStates } from '../store/index.js';
import { type ClusterNode, type ClusterSources, uidOf } from './sources.js';

/** A node in one of these is to be worked on as if nothing had ever run there. */
const AFRESH: ReadonlySet<string> = new Set(['error', 'discover', 'provisioned', 'stopped']);

/** Whether tasks on a node see everything as changed: it is new, was reinstalled, or its last run did not end well. */
const startsAfresh = (node: Pick<ClusterNode, 'pendingAddition' | 'status'>): boolean =>
  node.pendingAddition || AFRESH.has(node.status);

/**
 * What `old()` and `changed()` compare with: for each (task, node) the state with which that task last ended well
 * there. Nodes that start afresh have none.
 */
export function oldStatesOf(sources: ClusterSources, stored: TaskStates): OldStates {
  const afresh = new Set(sources.nodes.filter(startsAfresh).map(uidOf));
  const onNodes = new Map<string, Map<string, string>>();
  const used = new Set<string>();
  for (const { task, node, state } of stored.tasks) {
    if (afresh.has(node)) continue;
    const nodes = onNodes.get(task) ?? new Map<string, string>();
    onNodes.set(task, nodes.set(node, state));
    used.add(state);
  }
  const states = [...used].map((name) => [name, JSON.parse(stored.states[name]!) as ClusterState]);
  return {
    states: Object.fromEntries(states),
    tasks: {},
    onNodes: Object.fromEntries([...onNodes].map(([task, nodes]) => [task, Object.fromEntries(nodes)])),
  };
}

/** The state the cluster was in at its last successful work, for looking at; undefined before there was any. */
export function newestState(stored: TaskStates): ClusterState | undefined {
  const newest = stored.tasks.reduce<TaskStates['tasks'][number] | undefined>(
    (best, one) => (best === undefined || one.at > best.at ? one : best),
    undefined,
  );
  return newest === undefined ? undefined : (JSON.parse(stored.states[newest.state]!) as ClusterState);
}

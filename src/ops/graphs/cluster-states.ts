import { uidOf } from '../../clusters/sources.ts';
import { clusterStates } from '../../clusters/state/cluster-state.ts';
import { given } from '../../core/data/given.ts';
import { calledText } from '../../core/names.ts';
import type { ClusterState } from '../../graph/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { readSources } from '../tags/read-sources.ts';

/** The data of expressions of a cluster's tasks: the part common to all nodes, and one node's part. */
interface StateView {
  readonly common: ClusterState['common'];
  /** Null if no node was requested, or the node did not exist. */
  readonly node: ClusterState['nodes'][string] | null;
  readonly nodes: ClusterState['nodes'];
  readonly facts: NonNullable<ClusterState['facts']>;
}

interface ClusterStatesView {
  readonly now: StateView;
  /** The newest state with which a task succeeded; null before the first success. */
  readonly before: StateView | null;
}

/** The two states of a cluster that `changed()`, `old()` and similar functions compare, for trying out expressions. */
export class StateOperations extends Service {
  /** @throws `not-found` for the cluster, and for a node that is not in it */
  async states(cluster: number, node?: number): Promise<ClusterStatesView> {
    const sources = await readSources(this.deps, cluster);
    const { now, before } = clusterStates(
      sources,
      await this.store.taskStates.read(cluster),
      given({ masterIp: this.deps.masterIp }),
    );
    const found = sources.nodes.find(({ id }) => id === node);
    if (node !== undefined && found === undefined) {
      throw problem('not-found', `node ${node} is not in ${calledText('cluster', sources.cluster)}`, {
        hint: `Its nodes are ${sources.nodes.map(({ id, name }) => (name ? `${id} (${name})` : id)).join(', ') || 'none'}.`,
      });
    }
    const view = (state: Required<ClusterState>): StateView => ({
      ...state,
      node: found === undefined ? null : (state.nodes[uidOf(found)] ?? null),
    });
    return { now: view(now), before: before === null ? null : view(before) };
  }
}

import type { GraphSurroundings, GraphTask } from '../../graph/index.ts';
import type { GraphOwner, Store } from '../../store/index.ts';
import { clusterTasks } from './cluster-tasks.ts';

/**
 * The tasks that surround an owner's tasks of a type. A cluster's tasks override those of its plugins and release. A plugin's
 * tasks join those of a release that is not known yet, so every name of the type may be defined.
 */
export async function graphSurroundings(store: Store, owner: GraphOwner, type: string): Promise<GraphSurroundings> {
  switch (owner.kind) {
    case 'cluster':
      return { below: (await clusterTasks(store, owner.id, type, 'below')) as readonly GraphTask[] };
    case 'plugin': {
      const graphs = await store.graphs.listBrief({ types: [type] });
      return { known: new Set(graphs.flatMap(({ taskNames }) => taskNames)) };
    }
    case 'release':
      return {};
  }
}

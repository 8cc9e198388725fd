import type { GraphTask } from '../../graph/index.js';
import type { GraphOwner, Store } from '../../store/index.js';
import { clusterTasks } from './cluster-tasks.js';
import type { GraphSurroundings } from './graph-upload.js';

/**
 * What an owner's tasks of a type stand beside. Those of a cluster lie over its plugins and its release; those of a
 * plugin come beside some release's, which are not known yet, so every name of the type may be meant.
 */
export async function graphSurroundings(
  store: Store,
  owner: GraphOwner | null,
  type: string | null,
): Promise<GraphSurroundings> {
  if (owner === null || type === null) return {};
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

import type { GraphSurroundings, GraphTask } from '../../graph/index.ts';
import type { GraphOwner } from '../../store/index.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { clusterTasks } from './cluster-tasks.ts';

/**
 * The tasks that surround an owner's tasks of a type. A cluster's tasks override those of its plugins and release. A plugin's
 * tasks join those of a release that is not known yet, so every name of the type may be defined.
 */
export async function graphSurroundings(
  { store, masterAllowed = false }: Pick<OpsDependencies, 'store' | 'masterAllowed'>,
  owner: GraphOwner,
  type: string,
): Promise<GraphSurroundings> {
  switch (owner.kind) {
    case 'cluster': {
      const below = (await clusterTasks(store, owner.id, type, 'below')) as readonly GraphTask[];
      // Packages may have such tasks: they are for clusters of many installations.
      return { below, masterDenied: !masterAllowed };
    }
    case 'plugin': {
      const graphs = await store.graphs.listBrief({ types: [type] });
      return { known: new Set(graphs.flatMap(({ taskNames }) => taskNames)) };
    }
    case 'release':
      return {};
  }
}

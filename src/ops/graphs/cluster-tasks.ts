import { type GraphTask, type LayerTasks, mergeLayers } from '../../graph/index.js';
import type { GraphLayers, GraphWithTasks, Store } from '../../store/index.js';
import { problem } from '../problem.js';

/** Whose tasks: all merged, one layer's, or what lies below the cluster's own. */
export type ClusterLayer = 'merged' | 'own' | 'plugins' | 'release' | 'below';

export type ClusterTask = GraphTask;

/**
 * A cluster's tasks of a type: cluster over plugins over release, whole tasks by id. A type without graphs has none.
 * @throws `not-found` for the cluster; `conflict` when two plugins bring the same task
 */
export async function clusterTasks(
  store: Store,
  cluster: number,
  type: string,
  layer: ClusterLayer,
): Promise<readonly ClusterTask[]> {
  const layers = await store.graphs.layers(cluster, type);
  if (layer === 'own') return tasksOf(layers.cluster);
  if (layer === 'release') return tasksOf(layers.release);
  const roles = new Map<number, unknown>(
    layers.plugins.length === 0
      ? []
      : (await store.plugins.ofCluster(cluster, { enabled: true })).map(({ plugin }) => [
          plugin.id,
          plugin.metadata.roles_metadata,
        ]),
  );
  return merged(layers, layer, roles);
}

function merged(layers: GraphLayers, layer: ClusterLayer, roles: ReadonlyMap<number, unknown>): readonly ClusterTask[] {
  const parts: LayerTasks[] = layers.plugins.map(({ plugin, graph }) => ({
    ...part('plugins', graph),
    owner: `${plugin.name}-${plugin.version}`,
    path: pluginPath(plugin),
    roles: (roles.get(plugin.id) ?? {}) as NonNullable<LayerTasks['roles']>,
  }));
  if (layer !== 'plugins' && layers.release !== null) parts.push(part('release', layers.release));
  if (layer === 'merged' && layers.cluster !== null) parts.push(part('cluster', layers.cluster));
  const overlaps: string[] = [];
  const tasks = mergeLayers(parts, ({ error }) => overlaps.push(error.message));
  if (overlaps.length > 0) {
    throw problem('conflict', overlaps.join('; '), { hint: 'Disable one of the plugins, or rename its tasks.' });
  }
  return tasks.map(({ task }) => task);
}

const tasksOf = (graph: GraphWithTasks | null): readonly ClusterTask[] =>
  (graph?.tasks ?? []) as unknown as readonly ClusterTask[];

const part = (layer: LayerTasks['layer'], graph: GraphWithTasks): LayerTasks => ({
  layer,
  tasks: tasksOf(graph).map((task, index) => ({ task, at: [layer, index] })),
});

/** Where a plugin's files are on the nodes: its folder has the first two numbers of its version. */
export const pluginPath = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `/etc/fuel/plugins/${name}-${version.split('.').slice(0, 2).join('.')}/`;

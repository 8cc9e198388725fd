import { mergeGraph } from '../../clusters/graph-layers.ts';
import { readClusterSources, readGraphLayers } from '../../clusters/read-sources.ts';
import { type GraphTask, Problems } from '../../graph/index.ts';
import type { Store } from '../../store/index.ts';
import { problem } from '../problem.ts';

/** Which tasks: all merged, one layer's, or those below the cluster's own. */
export type ClusterLayer = 'merged' | 'own' | 'plugins' | 'release' | 'below';

/**
 * A cluster's tasks of a type: cluster overrides plugins override release, task by task. A type without graphs has
 * none.
 * @throws `not-found` for the cluster; `conflict` when two plugins define the same task
 */
export async function clusterTasks(
  store: Store,
  cluster: number,
  type: string,
  layer: ClusterLayer,
): Promise<readonly GraphTask[]> {
  const sources = await readClusterSources(store, cluster);
  const layers = await readGraphLayers(store, sources, type);
  const problems = new Problems();
  const wanted = layers.filter((one) => WANTED[layer].includes(one.layer));
  const { tasks } = mergeGraph(wanted, problems);
  const overlaps = problems.all().filter(({ code }) => code === 'graph.plugins-overlap');
  if (overlaps.length > 0) {
    throw problem('conflict', overlaps.map(({ message }) => message).join('; '), {
      hint: 'Disable one of the plugins, or rename its tasks.',
    });
  }
  return tasks.map(({ task }) => task);
}

const WANTED: Readonly<Record<ClusterLayer, readonly string[]>> = {
  merged: ['cluster', 'plugins', 'release'],
  own: ['cluster'],
  plugins: ['plugins'],
  release: ['release'],
  below: ['plugins', 'release'],
};

import type { ValuePath } from '../core/data/plain-value.ts';
import {
  checkTask,
  type Fields,
  type Layer,
  type MergedTask,
  mergeLayers,
  normaliseTask,
  type Problems,
} from '../graph/index.ts';
import type { StoredLayer } from './sources.ts';

/** The fields of a graph apart from its tasks, merged over its layers. */
export interface GraphMetadata {
  readonly nodeFilter: string | null;
  readonly onSuccess: Fields | null;
  readonly onError: Fields | null;
  readonly onStop: Fields | null;
}

interface MergedGraph {
  readonly tasks: readonly MergedTask[];
  readonly metadata: GraphMetadata;
}

/**
 * Merges the layers of a graph type: cluster overrides plugins override release, by task id and by metadata field.
 * Tasks of plugins without a `cwd` get the plugin's folder.
 */
export function mergeGraph(layers: readonly StoredLayer[], problems: Problems): MergedGraph {
  const tasks = mergeLayers(
    layers.map((layer) => layerTasks(layer, problems)),
    ({ at, error }) => problems.error(at, error.code, error.message, error.hint),
  );
  const byWeight = ORDER.flatMap((name) => layers.filter(({ layer }) => layer === name));
  const last = <K extends keyof GraphMetadata>(field: K): GraphMetadata[K] =>
    byWeight.reduce<GraphMetadata[K]>((found, layer) => layer[field] ?? found, null as GraphMetadata[K]);
  return {
    tasks,
    metadata: {
      nodeFilter: last('nodeFilter'),
      onSuccess: last('onSuccess'),
      onError: last('onError'),
      onStop: last('onStop'),
    },
  };
}

const ORDER = ['release', 'plugins', 'cluster'] as const;

function layerTasks(stored: StoredLayer, problems: Problems): Layer {
  const { layer, plugin } = stored;
  const at: ValuePath = plugin === undefined ? [layer, 'tasks'] : [layer, plugin.name, 'tasks'];
  const tasks = stored.tasks.flatMap((given, i) => {
    const place = [...at, i];
    return checkTask(given, place, problems) ? [{ task: normaliseTask(given), at: place }] : [];
  });
  return {
    layer,
    tasks,
    ...(plugin === undefined ? {} : { owner: plugin.name, roles: plugin.roles }),
    ...(plugin?.path === undefined ? {} : { path: plugin.path }),
  };
}

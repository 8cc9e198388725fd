import { given } from '../../core/data/given.ts';
import { isMapping, type ValuePath } from '../../core/data/plain-value.ts';
import { GraphProblemError } from '../problem.ts';
import { inOwnersFolder, type TaskInFolder } from './owner-folder.ts';
import type { Fields, GraphTask } from './task.ts';

/** The layer of a task: the more specific one wins. */
export type LayerName = 'cluster' | 'plugins' | 'release';

/** Tasks of one owner. */
export interface Layer {
  readonly layer: LayerName;
  /** Name of the plugin, for messages. */
  readonly owner?: string;
  /** Path of the plugin's files on the nodes: default `cwd` of its tasks with parameters. */
  readonly path?: string;
  /** Roles of the plugin, by name: their `fault_tolerance` applies to its group of the same name. */
  readonly roles?: Fields;
  readonly tasks: readonly PlacedInInput[];
}

/** A task with the place it was read from. */
export interface PlacedInInput {
  readonly task: GraphTask;
  /** As its author wrote it, for the places of its fields. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly at: ValuePath;
}

export interface MergedTask extends PlacedInInput, Pick<TaskInFolder, 'folder'> {
  readonly layer: LayerName;
  readonly owner?: string;
  /** Layers whose task of the same id this one replaces entirely. */
  readonly replaces: readonly LayerName[];
  /** Of a `Preparation`. */
  readonly prepares?: true;
}

/** Tasks that a node with work of one owner needs to have done first. */
export interface Preparation {
  readonly layer: LayerName;
  /** Of layer `plugins`: which one. */
  readonly owner?: string;
  /** In their order. */
  readonly tasks: readonly MergedTask[];
}

const ORDER: readonly LayerName[] = ['cluster', 'plugins', 'release'];

/**
 * Merges the layers: cluster over plugins over release, whole tasks by id. Cluster tasks come first, then the
 * additions of lower layers, each in its order. `overlap` receives duplicate ids of two owners of one layer.
 */
export function mergeLayers(
  layers: readonly Layer[],
  overlap: (problem: { readonly at: ValuePath; readonly error: GraphProblemError }) => void,
): MergedTask[] {
  const merged = new Map<string, MergedTask & { replaces: LayerName[] }>();
  for (const name of ORDER) {
    const inLayer = new Map<string, string | undefined>();
    for (const layer of layers.filter((one) => one.layer === name)) {
      for (const { task, at } of layer.tasks) {
        if (inLayer.has(task.id)) {
          overlap({ at: [...at, 'id'], error: sameId(name, inLayer.get(task.id), layer.owner, task.id) });
          continue;
        }
        inLayer.set(task.id, layer.owner);
        const above = merged.get(task.id);
        if (above !== undefined) above.replaces.push(name);
        else {
          const owner = given({ owner: layer.owner });
          const placed = inOwnersFolder(withOwnersTolerance(task, layer), layer.path);
          merged.set(task.id, { ...placed, at, layer: name, ...owner, replaces: [] });
        }
      }
    }
  }
  return [...merged.values()];
}

function sameId(
  layer: LayerName,
  first: string | undefined,
  second: string | undefined,
  id: string,
): GraphProblemError {
  if (layer !== 'plugins' || (first === second && first !== undefined)) {
    return new GraphProblemError(
      'graph.duplicate-task',
      `task '${id}' is defined twice in the ${layer} tasks`,
      'Task ids are unique in a graph: rename or remove one.',
    );
  }
  const who = first === undefined ? 'two plugins define' : `plugins '${first}' and '${second ?? '?'}' both define`;
  return new GraphProblemError(
    'graph.plugins-overlap',
    `${who} task '${id}'`,
    'Disable one of the plugins, or rename its task.',
  );
}

function withOwnersTolerance(task: GraphTask, { roles }: Layer): GraphTask {
  const role = roles !== undefined && Object.hasOwn(roles, task.id) ? roles[task.id] : undefined;
  if (task.type !== 'group' || !isMapping(role) || !('fault_tolerance' in role)) return task;
  return { ...task, fault_tolerance: role.fault_tolerance };
}

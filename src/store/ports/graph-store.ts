import type { Change, Stored } from '../tables.ts';
import type { Json, JsonFields } from './page.ts';

/** What a graph belongs to. */
export interface GraphOwner {
  readonly kind: 'release' | 'plugin' | 'cluster';
  readonly id: number;
}

/**
 * A task in its normalised form: made by `normaliseTask` of src/graph, read by `presentTask`. Fields that the
 * specification names have columns; all others are stored unchanged.
 */
export interface StoredTask {
  readonly id: string;
  readonly [field: string]: Json;
}

export interface GraphRecord extends Omit<Stored<'graph'>, 'releaseId' | 'pluginId' | 'clusterId'> {
  readonly owner: GraphOwner;
}

export interface GraphWithTasks extends GraphRecord {
  /** In upload order. */
  readonly tasks: readonly StoredTask[];
}

/** An absent field is null; in a change it keeps its value. Given tasks replace all tasks. */
export type GraphContent = Change<'graph'> & {
  /** Normalised tasks; duplicate ids are `invalid`, and the message names each. */
  readonly tasks?: readonly (JsonFields & { readonly id: string })[];
};

/** Graphs of any of these owners that have one of the types. Without owners: of all owners. */
export interface GraphFilter {
  readonly ids?: readonly number[];
  readonly clusters?: readonly number[];
  readonly plugins?: readonly number[];
  readonly releases?: readonly number[];
  readonly types?: readonly string[];
}

/** A consistent snapshot of a cluster's layers for one graph type, lowest first. */
export interface GraphLayers {
  readonly release: GraphWithTasks | null;
  /** Of enabled plugins that have a graph of the type, by plugin id. */
  readonly plugins: readonly {
    readonly plugin: { readonly id: number; readonly name: string; readonly version: string };
    readonly graph: GraphWithTasks;
  }[];
  readonly cluster: GraphWithTasks | null;
}

/**
 * Typed sets of tasks. An owner has at most one graph of a type. A graph has one owner and is deleted with it.
 * Types match `[A-Za-z0-9_-]+`.
 */
export interface GraphStore {
  /** @throws `conflict` when the owner has one; `not-found` for the owner */
  create(owner: GraphOwner, type: string, content: GraphContent): Promise<GraphWithTasks>;
  get(id: number): Promise<GraphWithTasks>;
  /** Null when the owner has none of this type. @throws `not-found` for the owner. */
  find(owner: GraphOwner, type: string): Promise<GraphWithTasks | null>;
  /** By id, ascending. */
  list(filter?: GraphFilter): Promise<readonly GraphWithTasks[]>;
  /** The same with task names instead of tasks. */
  listBrief(filter?: GraphFilter): Promise<readonly (GraphRecord & { readonly taskNames: readonly string[] })[]>;
  update(id: number, content: GraphContent): Promise<GraphWithTasks>;
  /** Creates the owner's graph or changes it. */
  put(
    owner: GraphOwner,
    type: string,
    content: GraphContent,
  ): Promise<{ readonly graph: GraphWithTasks; readonly created: boolean }>;
  delete(id: number): Promise<void>;
  /** @throws `not-found` for the cluster. */
  layers(clusterId: number, type: string): Promise<GraphLayers>;
  /** Graph types of all layers of the cluster, sorted. @throws `not-found` for the cluster. */
  typesOf(clusterId: number): Promise<readonly string[]>;
}

import type { Change, Stored } from '../tables.js';
import type { Json, JsonFields } from './page.js';

/** What a graph belongs to. */
export interface GraphOwner {
  readonly kind: 'release' | 'plugin' | 'cluster';
  readonly id: number;
}

/**
 * A task in its normalised form: what `normaliseTask` of src/graph makes, what `presentTask` takes. Fields that the
 * specification names are columns of their own, all others are kept as they are.
 */
export interface StoredTask {
  readonly id: string;
  readonly [field: string]: Json;
}

export interface GraphRecord extends Omit<Stored<'graph'>, 'releaseId' | 'pluginId' | 'clusterId'> {
  /** Null for an orphan, which has no type either. */
  readonly owner: GraphOwner | null;
}

export interface GraphWithTasks extends GraphRecord {
  /** In upload order. */
  readonly tasks: readonly StoredTask[];
}

/** An absent field is null, or stays as it is in a change. Tasks given replace all tasks. */
export type GraphContent = Change<'graph'> & {
  /** Normalised tasks; an id given twice is `invalid`, naming each. */
  readonly tasks?: readonly (JsonFields & { readonly id: string })[];
};

/** Owners are added up, then narrowed by the types. Without any owner: of all owners, and orphans too. */
export interface GraphFilter {
  readonly ids?: readonly number[];
  readonly clusters?: readonly number[];
  readonly plugins?: readonly number[];
  readonly releases?: readonly number[];
  readonly types?: readonly string[];
}

/** The layers of a cluster for one type of graph, lowest first, as they stood at one moment. */
export interface GraphLayers {
  readonly release: GraphWithTasks | null;
  /** Of enabled plugins that have a graph of the type, by id of the plugin. */
  readonly plugins: readonly {
    readonly plugin: { readonly id: number; readonly name: string; readonly version: string };
    readonly graph: GraphWithTasks;
  }[];
  readonly cluster: GraphWithTasks | null;
}

/**
 * Typed sets of tasks. An owner has at most one graph of a type; a graph has one owner or none, and goes with it.
 * Types match `[A-Za-z0-9_-]+`.
 */
export interface GraphStore {
  /** An orphan when owner and type are null. @throws `conflict` when the owner has one; `not-found` for the owner. */
  create(owner: GraphOwner | null, type: string | null, content: GraphContent): Promise<GraphWithTasks>;
  get(id: number): Promise<GraphWithTasks>;
  /** Null when the owner has none of this type. @throws `not-found` for the owner. */
  find(owner: GraphOwner, type: string): Promise<GraphWithTasks | null>;
  /** By id, ascending. */
  list(filter?: GraphFilter): Promise<readonly GraphWithTasks[]>;
  /** The same, with names of tasks in place of tasks. */
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
  /** Types of graphs any layer of the cluster has, sorted. @throws `not-found` for the cluster. */
  typesOf(clusterId: number): Promise<readonly string[]>;
}

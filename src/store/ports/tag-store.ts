import type { New, Stored } from '../tables.ts';
import type { GraphOwner } from './graph-store.ts';

export type TagOwner = GraphOwner;

/** A kind of work that nodes can do. */
export interface TagRecord extends Omit<Stored<'tag'>, 'releaseId' | 'pluginId' | 'clusterId'> {
  readonly owner: TagOwner;
}

export type NewTag = New<'tag'>;

/** Who gave a node its tag: an assigned role, a user, or an extension. */
type TagSource = Stored<'tagNodeAssignment'>['source'];

export interface TagAssignment extends Omit<Stored<'tagNodeAssignment'>, 'role'> {
  /** The role that brought it; null for a user's tag. */
  readonly role: string | null;
}

/** All given conditions must hold. */
export interface TagAssignmentFilter {
  readonly nodeIds?: readonly number[];
  readonly tags?: readonly string[];
  readonly sources?: readonly TagSource[];
  readonly roles?: readonly (string | null)[];
}

export type NewTagAssignment = Omit<TagAssignment, 'clusterId'>;

/** Tags, and which nodes have them. An unknown id is `not-found`. */
export interface TagStore {
  /** @throws `conflict` when the owner has a tag of this name; `not-found` for the owner. */
  create(owner: TagOwner, tag: NewTag): Promise<TagRecord>;
  /** Replaces the owner's read-only tags by these; user-made tags of the same name stay. */
  replaceReadOnly(owner: TagOwner, tags: readonly NewTag[]): Promise<readonly TagRecord[]>;
  get(id: number): Promise<TagRecord>;
  /** @throws `not-found` for the owner. */
  find(owner: TagOwner, name: string): Promise<TagRecord | null>;
  /** The owner's tags, by name. @throws `not-found` for the owner. */
  list(owner: TagOwner): Promise<readonly TagRecord[]>;
  /** Tags of its release, of its enabled plugins, and its own: by name, then in this order. */
  ofCluster(clusterId: number): Promise<readonly TagRecord[]>;
  /** Also changes read-only tags; the caller decides. A tag keeps its name, because nodes refer to it by name. */
  update(id: number, change: Partial<Omit<NewTag, 'name'>>): Promise<TagRecord>;
  /**
   * Removes the tag, and removes it and its instances from nodes unless another tag has the same name.
   * @throws `conflict` when it is read-only, unless `force`.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<void>;

  /** By node, tag, source and role. @throws `not-found` for the cluster. */
  assignments(clusterId: number, filter?: TagAssignmentFilter): Promise<readonly TagAssignment[]>;
  /**
   * Assigns tags to nodes, all or none; existing assignments stay.
   * @throws `invalid` naming the nodes outside the cluster.
   */
  assign(clusterId: number, assignments: readonly NewTagAssignment[]): Promise<void>;
  /** Removes the assignments that match the filter, and returns how many. An empty filter matches all. */
  unassign(clusterId: number, filter: TagAssignmentFilter): Promise<number>;
}

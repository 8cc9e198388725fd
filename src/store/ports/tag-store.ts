import type { New, Stored } from '../tables.js';
import type { GraphOwner } from './graph-store.js';

export type TagOwner = GraphOwner;

/** A kind of work that nodes can be for. */
export interface TagRecord extends Omit<Stored<'tag'>, 'releaseId' | 'pluginId' | 'clusterId'> {
  readonly owner: TagOwner;
}

export type NewTag = New<'tag'>;

/** Who gave a node a tag: a role it was assigned, a user, or an extension. */
export type TagSource = Stored<'tagNodeAssignment'>['source'];

export interface TagAssignment extends Omit<Stored<'tagNodeAssignment'>, 'role'> {
  /** The role it came with; null for a user's. */
  readonly role: string | null;
}

/** All that is given must hold. */
export interface TagAssignmentFilter {
  readonly nodeIds?: readonly number[];
  readonly tags?: readonly string[];
  readonly sources?: readonly TagSource[];
  readonly roles?: readonly (string | null)[];
}

export type NewTagAssignment = Omit<TagAssignment, 'clusterId'>;

/** Tags, and which nodes have them. An id that does not exist is `not-found`. */
export interface TagStore {
  /** @throws `conflict` when the owner has a tag of this name; `not-found` for the owner. */
  create(owner: TagOwner, tag: NewTag): Promise<TagRecord>;
  /** Brings the owner's read-only tags to exactly these; user-made ones of the same name stay the user's. */
  replaceReadOnly(owner: TagOwner, tags: readonly NewTag[]): Promise<readonly TagRecord[]>;
  get(id: number): Promise<TagRecord>;
  /** @throws `not-found` for the owner. */
  find(owner: TagOwner, name: string): Promise<TagRecord | null>;
  /** The owner's own, by name. @throws `not-found` for the owner. */
  list(owner: TagOwner): Promise<readonly TagRecord[]>;
  /** Those of its release, of its enabled plugins, and its own, by name, then in this order. */
  ofCluster(clusterId: number): Promise<readonly TagRecord[]>;
  /** Also of read-only tags: the caller decides. A tag keeps its name: nodes have it by that. */
  update(id: number, change: Partial<Omit<NewTag, 'name'>>): Promise<TagRecord>;
  /**
   * Removes the tag, and takes it and its instances from nodes for which no other tag has the name.
   * @throws `conflict` when it is read-only, unless `force`.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<void>;

  /** By node, tag, source and role. @throws `not-found` for the cluster. */
  assignments(clusterId: number, filter?: TagAssignmentFilter): Promise<readonly TagAssignment[]>;
  /**
   * Gives nodes tags, all or none; what they have already stays.
   * @throws `invalid` naming nodes that are not of the cluster.
   */
  assign(clusterId: number, assignments: readonly NewTagAssignment[]): Promise<void>;
  /** Takes away what the filter lets through; answers how many. An empty filter takes all. */
  unassign(clusterId: number, filter: TagAssignmentFilter): Promise<number>;
  /** Takes away what the filter lets through and gives these, as one change. */
  reassign(clusterId: number, filter: TagAssignmentFilter, assignments: readonly NewTagAssignment[]): Promise<void>;
}

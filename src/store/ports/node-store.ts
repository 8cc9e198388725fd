import type { Change, New, Stored } from '../tables.ts';

/** A machine of the inventory, in a cluster or not. */
export type NodeRecord = Stored<'node'>;

export type NewNode = New<'node'>;

/** An absent field keeps its value; a given list or mapping replaces the stored one. `assign` changes the cluster. */
export type NodeChange = Change<'node'>;

/** All given conditions must hold. An empty list matches nothing. */
export interface NodeFilter {
  readonly ids?: readonly number[];
  /** Null: nodes without a cluster. */
  readonly clusterId?: number | null;
  readonly site?: string | null;
  readonly groupId?: number | null;
  readonly statuses?: readonly string[];
  readonly online?: boolean;
  readonly hostnames?: readonly string[];
  readonly macs?: readonly string[];
  /** Matches roles and pending roles. */
  readonly roles?: readonly string[];
  /** For each name: has the label, with one of the values if any are given. */
  readonly labels?: Readonly<Record<string, readonly (string | null)[] | undefined>>;
}

/** Inventory of machines. An unknown id is `not-found` for every call but `list`. */
export interface NodeStore {
  /** @throws `conflict` when uuid, MAC, or hostname within the site are taken. */
  create(node: NewNode): Promise<NodeRecord>;
  get(id: number): Promise<NodeRecord>;
  /** By id, ascending. */
  list(filter?: NodeFilter): Promise<readonly NodeRecord[]>;
  update(id: number, change: NodeChange): Promise<NodeRecord>;
  /** Several nodes, all or none; each id once. */
  updateMany(changes: readonly { readonly id: number; readonly change: NodeChange }[]): Promise<readonly NodeRecord[]>;
  /**
   * Adds nodes to the cluster, all or none. A new node gets the roles as pending roles and is pending addition, unless
   * it has an operating system (`provisioned`, `ready`: MAAS deployed it, or it was registered so). A node of the
   * cluster gets the roles it lacks as pending roles, and loses none.
   * @throws `conflict` with `users` when nodes belong to another cluster; `not-found` for the first unknown id.
   */
  assign(
    clusterId: number,
    nodes: readonly { readonly id: number; readonly roles: readonly string[] }[],
  ): Promise<readonly NodeRecord[]>;
  /**
   * Removes nodes from the cluster, all or none, with their roles, pending marks, tags, task states and primary tags.
   * Those with the operating system of a deployment become `provisioned`, all others and `erased` ones `discover`.
   * @throws `invalid` naming the nodes outside the cluster.
   */
  unassign(
    clusterId: number,
    ids: readonly number[],
    options?: { readonly erased?: boolean },
  ): Promise<readonly NodeRecord[]>;
  /** Deletes the node. @throws `conflict` with `users` while it is in a cluster, unless `force`. */
  delete(id: number, options?: { readonly force?: boolean }): Promise<void>;
  /** Number of nodes by whether their agents are recorded as online. */
  countOnline(): Promise<{ readonly online: number; readonly offline: number }>;
}

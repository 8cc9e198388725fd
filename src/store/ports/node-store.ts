import type { Change, New, Stored } from '../tables.js';

/** A machine of the inventory, whether of a cluster or not. */
export type NodeRecord = Stored<'node'>;

export type NewNode = New<'node'>;

/** An absent field stays as it is; a list or mapping given replaces the stored one. The cluster changes by `assign`. */
export type NodeChange = Change<'node'>;

/** All that is given must hold. An empty list of values lets nothing through. */
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
  /** Has one of these among roles and pending roles. */
  readonly roles?: readonly string[];
  /** For each name: has the label, with one of the values if they are given. */
  readonly labels?: Readonly<Record<string, readonly (string | null)[] | undefined>>;
}

/** Inventory of machines. An id that does not exist is `not-found` for every call but `list`. */
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
   * Gives the cluster nodes, all or none. A node new to it gets the roles as pending ones and is pending addition, unless
   * it has its system already (`provisioned`, `ready`: MAAS deployed it, or it was registered so); one
   * of it already gets as pending roles those it does not have, and loses none.
   * @throws `conflict` with `users` when nodes are of another cluster; `not-found` for the first id there is not.
   */
  assign(
    clusterId: number,
    nodes: readonly { readonly id: number; readonly roles: readonly string[] }[],
  ): Promise<readonly NodeRecord[]>;
  /**
   * Takes nodes out of the cluster, all or none: without roles, pending marks, tags, states of tasks, and primacy.
   * @throws `invalid` naming nodes that are not of the cluster.
   */
  unassign(clusterId: number, ids: readonly number[]): Promise<readonly NodeRecord[]>;
  /** Forgets the node. @throws `conflict` with `users` while it is of a cluster, unless `force`. */
  delete(id: number, options?: { readonly force?: boolean }): Promise<void>;
  /** How many there are, by whether their agents are said to be online. */
  countOnline(): Promise<{ readonly online: number; readonly offline: number }>;
  /** Names of all labels in use, sorted; of these nodes if told which. */
  labelNames(filter?: NodeFilter): Promise<readonly string[]>;
}

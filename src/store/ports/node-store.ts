import type { JsonFields, JsonObject } from './page.js';

/** A machine of the inventory, whether of a cluster or not. */
export interface NodeRecord {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  /** Unique within a site. */
  readonly hostname: string;
  readonly site: string | null;
  /** Lower case, with colons; unique. */
  readonly mac: string | null;
  readonly ip: string | null;
  readonly clusterId: number | null;
  /** What it is deployed as. */
  readonly roles: readonly string[];
  /** What it is to become at the next deployment, beside its roles. */
  readonly pendingRoles: readonly string[];
  /** Tags it is primary for. */
  readonly primaryRoles: readonly string[];
  /** `discover`, `provisioning`, `provisioned`, `deploying`, `ready`, `error`, `stopped`, `removing` … */
  readonly status: string;
  readonly online: boolean;
  readonly pendingAddition: boolean;
  readonly pendingDeletion: boolean;
  /** What failed: `deploy`, `provision`, `deletion` … */
  readonly errorType: string | null;
  readonly errorMsg: string | null;
  /** Percent of the run under way. */
  readonly progress: number;
  readonly groupId: number | null;
  readonly platformName: string | null;
  readonly manufacturer: string | null;
  readonly osPlatform: string | null;
  /** Hardware, as discovered. */
  readonly meta: JsonObject;
  /** Settings of this node. */
  readonly attributes: JsonObject;
  readonly labels: { readonly [name: string]: string | null };
  /** What its agent said of it last. */
  readonly facts: JsonObject;
  /** When it was heard of last; ISO 8601. */
  readonly timestamp: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewNode {
  /** Made up when absent. */
  readonly uuid?: string;
  readonly name: string;
  /** `node-ID` when absent. */
  readonly hostname?: string;
  readonly site?: string | null;
  readonly mac?: string | null;
  readonly ip?: string | null;
  /** `discover` when absent. */
  readonly status?: string;
  /** True when absent. */
  readonly online?: boolean;
  readonly groupId?: number | null;
  readonly platformName?: string | null;
  readonly manufacturer?: string | null;
  readonly osPlatform?: string | null;
  readonly meta?: JsonFields;
  readonly attributes?: JsonFields;
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly facts?: JsonFields;
  readonly timestamp?: string;
}

/** An absent field stays as it is; a list or mapping given replaces the stored one. The cluster changes by `assign`. */
export interface NodeChange extends Partial<NewNode> {
  readonly roles?: readonly string[];
  readonly pendingRoles?: readonly string[];
  readonly primaryRoles?: readonly string[];
  readonly pendingAddition?: boolean;
  readonly pendingDeletion?: boolean;
  readonly errorType?: string | null;
  readonly errorMsg?: string | null;
  readonly progress?: number;
}

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

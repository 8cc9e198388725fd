import type { Json, JsonFields, JsonObject } from './page.js';

/** What lists show of an environment. */
export interface ClusterRecord {
  readonly id: number;
  /** Unique. */
  readonly name: string;
  readonly releaseId: number;
  /** The release the cluster is to change to. */
  readonly pendingReleaseId: number | null;
  /** `ha_compact`, `multinode` … */
  readonly mode: string;
  readonly netProvider: string;
  /** `new`, `deployment`, `operational`, `partially_deployed`, `stopped`, `error`, `update_error` … */
  readonly status: string;
  /** Site whose machines it is built of. */
  readonly site: string | null;
  readonly isLocked: boolean;
  readonly components: readonly Json[];
  readonly uiSettings: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A cluster with everything that is large. */
export interface ClusterDetails extends ClusterRecord {
  /** Fuel's editable settings: `{editable: {...}, generated: {...}}`, or as the release gives them. */
  readonly attributes: JsonObject;
  /** Data uploaded by users in place of what would be worked out: `common`, and by node id. */
  readonly deploymentInfo: { readonly common: JsonObject; readonly nodes: { readonly [node: string]: JsonObject } };
  readonly networkConfig: JsonObject;
  /** What `policy: any` took before, by the key the planner gives it: it takes the same again while it can. */
  readonly anyChoices: JsonObject;
  /** Tag -> id of the node that is primary for it. Nodes no longer of the cluster are never in it. */
  readonly primaries: { readonly [tag: string]: number };
}

export interface NewCluster {
  readonly name: string;
  readonly releaseId: number;
  /** `ha_compact` when absent. */
  readonly mode?: string;
  /** `neutron` when absent. */
  readonly netProvider?: string;
  /** `new` when absent. */
  readonly status?: string;
  readonly site?: string | null;
  readonly isLocked?: boolean;
  readonly components?: readonly unknown[];
  readonly uiSettings?: JsonFields;
  readonly attributes?: JsonFields;
  readonly networkConfig?: JsonFields;
}

/** An absent field stays as it is; a mapping given replaces the stored one as a whole. */
export interface ClusterChange extends Partial<NewCluster> {
  readonly pendingReleaseId?: number | null;
  readonly deploymentInfo?: {
    readonly common: JsonFields;
    readonly nodes: Readonly<Record<string, JsonFields>>;
  };
  readonly anyChoices?: JsonFields;
  /** Every id must be of a node of the cluster; another is `invalid`. */
  readonly primaries?: Readonly<Record<string, number>>;
}

/** Environments. An id that does not exist is `not-found` for every call but `list` and `find`. */
export interface ClusterStore {
  /**
   * With an empty graph of type `default`. @throws `conflict` when the name is taken; `not-found` for the release.
   */
  create(cluster: NewCluster): Promise<ClusterDetails>;
  get(id: number): Promise<ClusterDetails>;
  /** The same without what is large. */
  brief(id: number): Promise<ClusterRecord>;
  find(name: string): Promise<ClusterRecord | null>;
  /** By id, ascending. */
  list(filter?: {
    readonly ids?: readonly number[];
    readonly releaseId?: number;
    readonly site?: string;
  }): Promise<readonly ClusterRecord[]>;
  /** @throws `conflict` when the name is taken; `not-found` for a release. */
  update(id: number, change: ClusterChange): Promise<ClusterDetails>;
  /**
   * Removes the cluster with its graphs, tags, links to plugins, transactions, histories and states. Its nodes stay in
   * the inventory, without cluster and roles.
   * @throws `conflict` with the holder while a run claims it, or has not ended.
   */
  delete(id: number): Promise<void>;
}

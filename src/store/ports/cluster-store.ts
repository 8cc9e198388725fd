import type { Change, New, Stored } from '../tables.js';

/** A cluster with everything that is large. */
export interface ClusterDetails extends Stored<'cluster'> {
  /** Tag -> id of the node that is primary for it. Nodes no longer of the cluster are never in it. */
  readonly primaries: { readonly [tag: string]: number };
}

/** What lists show of a cluster. */
export type ClusterRecord = Omit<
  ClusterDetails,
  'attributes' | 'deploymentInfo' | 'networkConfig' | 'anyChoices' | 'primaries'
>;

export type NewCluster = New<'cluster'>;

/** An absent field stays as it is; a mapping given replaces the stored one as a whole. */
export type ClusterChange = Change<'cluster'> & {
  /** Every id must be of a node of the cluster; another is `invalid`. */
  readonly primaries?: Readonly<Record<string, number>>;
};

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

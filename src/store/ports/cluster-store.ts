import type { Change, New, Stored } from '../tables.ts';

/** A cluster with its large fields. */
export interface ClusterDetails extends Stored<'cluster'> {
  /** Tag -> id of its primary node. Contains only nodes of the cluster. */
  readonly primaries: { readonly [tag: string]: number };
}

/** What lists show of a cluster. */
export type ClusterRecord = Omit<
  ClusterDetails,
  'attributes' | 'deploymentInfo' | 'networkConfig' | 'anyChoices' | 'primaries'
>;

export type NewCluster = New<'cluster'>;

/** An absent field keeps its value; a given mapping replaces the stored one as a whole. */
export type ClusterChange = Change<'cluster'> & {
  /** Every id must belong to a node of the cluster, else `invalid`. */
  readonly primaries?: Readonly<Record<string, number>>;
};

/** Environments. An unknown id is `not-found` for every call but `list` and `find`. */
export interface ClusterStore {
  /**
   * Also creates an empty graph of type `default`. @throws `conflict` when the name is taken; `not-found` for the
   * release.
   */
  create(cluster: NewCluster): Promise<ClusterDetails>;
  get(id: number): Promise<ClusterDetails>;
  /** The same without its large fields. */
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
   * Removes the cluster with its graphs, tags, plugin links, transactions, histories and states. Its nodes stay in the
   * inventory, without a cluster or roles.
   * @throws `conflict` with the holder while a run claims it or is open.
   */
  delete(id: number): Promise<void>;
}

import type { ClusterState, Fields } from '../graph/index.js';

/**
 * All that is known of a cluster and decides about its plans, as plain data: what the store keeps, with nothing
 * worked out yet. `readClusterSources` makes it of a store's rows.
 */
export interface ClusterSources {
  readonly cluster: ClusterFacts;
  readonly release: ReleaseFacts;
  /** The plugins that are enabled in the cluster, in their order. */
  readonly plugins: readonly PluginFacts[];
  /** All nodes of the cluster, by id. */
  readonly nodes: readonly ClusterNode[];
}

export interface ClusterFacts {
  readonly id: number;
  readonly name: string;
  /** `ha_compact`, `multinode` …; only those of the first kind have primary nodes. */
  readonly mode: string;
  readonly status: string;
  /** The site whose machines are the cluster's nodes. */
  readonly site: string | null;
  /** Settings as users see them: groups of `{value, …}`, in `editable` and `generated`. */
  readonly settings: Fields;
  readonly networks: Fields;
  /** Tag -> id of the node that is primary for it. */
  readonly primaries: Readonly<Record<string, number>>;
  /** What `policy: any` took before. */
  readonly anyChoices: Fields;
  /** Roles and tags of the cluster's own, by name. */
  readonly roles: Fields;
  readonly tags: Fields;
  /** Whether tasks are placed by the tags assigned to nodes ("Tags resolution engine"), or by those of their roles. */
  readonly placesByTags: boolean;
  /** What users uploaded in place of what would be worked out. */
  readonly deploymentInfo: ClusterState;
}

export interface ReleaseFacts {
  readonly id: number;
  readonly name: string;
  readonly operatingSystem: string;
  /** `newton-10.0`: a name and the version of the environment. */
  readonly version: string;
  readonly roles: Fields;
  readonly tags: Fields;
}

export interface PluginFacts {
  readonly id: number;
  readonly name: string;
  /** Where its files are on the nodes; absent: nowhere, so its tasks run in `/`. */
  readonly path?: string;
  readonly roles: Fields;
  readonly tags: Fields;
  /** Tasks from before graphs, ordered by `stage`. */
  readonly legacyTasks: readonly Fields[];
}

export interface ClusterNode {
  readonly id: number;
  /** What the user calls it; for the nodes of a site the name in its documents. */
  readonly name: string | null;
  readonly hostname: string | null;
  readonly fqdn: string | null;
  readonly ip: string | null;
  readonly status: string;
  readonly online: boolean;
  readonly pendingAddition: boolean;
  readonly pendingDeletion: boolean;
  readonly errorType: string | null;
  readonly roles: readonly string[];
  readonly pendingRoles: readonly string[];
  /** Tags assigned to the node itself. */
  readonly tags: readonly string[];
  /** Tags it is the primary node of. */
  readonly primaryTags: readonly string[];
  readonly attributes: Fields;
  readonly labels: Fields;
}

/** The graph of one type of one owner, as it is stored. */
export interface StoredLayer {
  readonly layer: 'release' | 'plugins' | 'cluster';
  /** Of layer `plugins`: which one. */
  readonly plugin?: PluginFacts;
  readonly nodeFilter: string | null;
  readonly onSuccess: Fields | null;
  readonly onError: Fields | null;
  readonly onStop: Fields | null;
  readonly tasks: readonly Fields[];
}

/** The id of a node in plans, states and histories. */
export const uidOf = (node: Pick<ClusterNode, 'id'>): string => String(node.id);

/** The name the node has in the network when nobody gave it one. */
export const hostnameOf = (node: Pick<ClusterNode, 'id' | 'hostname'>): string => node.hostname ?? `node-${node.id}`;

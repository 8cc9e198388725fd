import type { MaintenanceNote } from '../core/maintenance.ts';
import type { ClusterState, Fields } from '../graph/index.ts';
import type { RoleTagChange } from './tags/apply-role-tags.ts';

/**
 * The stored data of a cluster that determines its plans, as plain data without anything derived. `readClusterSources`
 * reads it from the store.
 */
export interface ClusterSources {
  readonly cluster: ClusterFacts;
  readonly release: ReleaseFacts;
  /** The plugins enabled in the cluster, in order. */
  readonly plugins: readonly PluginFacts[];
  /** All nodes of the cluster, by id. */
  readonly nodes: readonly ClusterNode[];
}

export interface ClusterFacts {
  readonly id: number;
  readonly name: string;
  /** `ha_compact`, `multinode` …; only `ha_…` clusters have primary nodes. */
  readonly mode: string;
  readonly status: string;
  /** The site whose machines are the cluster's nodes. */
  readonly site: string | null;
  /** Settings as users see them: groups of `{value, …}`, in `editable` and `generated`. */
  readonly settings: Fields;
  /** VMware settings as users see them; absent when the release has none. */
  readonly vmware?: Fields;
  readonly networks: Fields;
  /** Tag -> id of its primary node. */
  readonly primaries: Readonly<Record<string, number>>;
  /** Previous choices of `policy: any`. */
  readonly anyChoices: Fields;
  /** The cluster's own roles and tags, by name. */
  readonly roles: Fields;
  readonly tags: Fields;
  /** Whether tasks run by the tags assigned to nodes ("Tags resolution engine"), or by the tags of their roles. */
  readonly placesByTags: boolean;
  /** Data uploaded by users to replace computed data. */
  readonly deploymentInfo: ClusterState;
}

interface ReleaseFacts {
  readonly id: number;
  readonly name: string;
  readonly operatingSystem: string;
  /** `newton-10.0`: a name and the version of the environment. */
  readonly version: string;
  readonly roles: Fields;
  readonly tags: Fields;
  readonly files?: NodeFiles;
  /** Roles of networks, each with `id` and `default_mapping`. */
  readonly networkRoles?: readonly unknown[];
  /** Documents of checks, as its package has them. */
  readonly checks?: readonly unknown[];
}

/** Files and repositories of a package for the nodes with tasks of its release or plugin. */
export interface NodeFiles {
  /** Its name and the first two numbers of its version. */
  readonly package: string;
  /** For its scripts, on the nodes. */
  readonly folder: string;
  readonly scripts: SourceFolder | undefined;
  readonly repository: SourceFolder | undefined;
}

interface SourceFolder {
  readonly src: string;
  /** SHA-256 of the list of its files. */
  readonly digest: string;
}

export interface PluginFacts {
  readonly id: number;
  readonly name: string;
  /** Folder of its files on the nodes; absent: none, so its tasks run in `/`. */
  readonly path?: string;
  readonly files?: NodeFiles;
  readonly roles: Fields;
  readonly tags: Fields;
  /** Tasks from before graphs, ordered by `stage`. */
  readonly legacyTasks: readonly Fields[];
  /** As those of the release. */
  readonly networkRoles?: readonly unknown[];
  readonly checks?: readonly unknown[];
}

export interface ClusterNode {
  readonly id: number;
  /** The user's name for it; for the nodes of a site the name in its documents. */
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
  /** Tags assigned to the node itself, with the changes of `roleTagChanges`. */
  readonly tags: readonly string[];
  /** Changes of its roles' tags that are not stored as its tags yet: the next run applies them. */
  readonly roleTagChanges?: readonly RoleTagChange[];
  /** Tags for which it is the primary node. */
  readonly primaryTags: readonly string[];
  /** Its settings, over the defaults of release and plugins. */
  readonly attributes: Fields;
  /** As users set them, else as found; interfaces with their attributes. Absent: unknown. */
  readonly interfaces?: readonly unknown[];
  readonly disks?: readonly unknown[];
  /** Its provisioning facts, as users gave them. */
  readonly provision?: Fields;
  readonly labels: Fields;
  /** People work on it: plans leave it out. */
  readonly maintenance?: MaintenanceNote;
}

/** The stored graph of one type and one owner. */
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

/** The node's host name, by default derived from its id. */
export const hostnameOf = (node: Pick<ClusterNode, 'id' | 'hostname'>): string => node.hostname ?? `node-${node.id}`;

/** How people call the node. */
export const nameOf = (node: Pick<ClusterNode, 'id' | 'hostname' | 'name'>): string => node.name ?? hostnameOf(node);

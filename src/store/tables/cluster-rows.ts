import type { Generated, Selectable } from 'kysely';

/** Packages, releases, plugins, clusters, nodes and tags. */
export interface ClusterTables {
  package: PackageTable;
  packageArchive: { packageId: number; bytes: Uint8Array };
  release: ReleaseTable;
  plugin: PluginTable;
  cluster: ClusterTable;
  clusterPlugin: ClusterPluginRow;
  clusterClaim: ClusterClaimRow;
  clusterPrimary: { clusterId: number; tag: string; nodeId: number };
  node: NodeTable;
  tag: TagTable;
  tagNodeAssignment: TagNodeAssignmentRow;
}

export interface PackageTable {
  id: Generated<number>;
  name: string;
  version: string;
  packageVersion: string;
  kind: string;
  checksum: string;
  size: number;
  metadata: string;
  installedAt: string;
  updatedAt: string;
}
export type PackageRow = Selectable<PackageTable>;

export interface ReleaseTable {
  id: Generated<number>;
  name: string;
  version: string;
  operatingSystem: string;
  description: string;
  state: string;
  isDeployable: number;
  rolesMetadata: string;
  tagsMetadata: string;
  metadata: string;
  packageId: number | null;
  createdAt: string;
  updatedAt: string;
}
export type ReleaseRow = Selectable<ReleaseTable>;

export interface PluginTable {
  id: Generated<number>;
  name: string;
  version: string;
  title: string;
  packageVersion: string;
  metadata: string;
  packageId: number | null;
  createdAt: string;
  updatedAt: string;
}
export type PluginRow = Selectable<PluginTable>;

export interface ClusterTable {
  id: Generated<number>;
  name: string;
  releaseId: number;
  pendingReleaseId: number | null;
  mode: string;
  netProvider: string;
  status: string;
  site: string | null;
  isLocked: number;
  components: string;
  uiSettings: string;
  attributes: string;
  deploymentInfo: string;
  networkConfig: string;
  anyChoices: string;
  createdAt: string;
  updatedAt: string;
}
export type ClusterRow = Selectable<ClusterTable>;

export interface ClusterPluginRow {
  clusterId: number;
  pluginId: number;
  enabled: number;
  attributes: string;
}

export interface ClusterClaimRow {
  clusterId: number;
  workflowId: string;
  runId: string;
  claimedAt: string;
}

export interface NodeTable {
  id: Generated<number>;
  uuid: string;
  name: string;
  hostname: string;
  site: string | null;
  mac: string | null;
  ip: string | null;
  clusterId: number | null;
  roles: string;
  pendingRoles: string;
  primaryRoles: string;
  status: string;
  online: number;
  pendingAddition: number;
  pendingDeletion: number;
  errorType: string | null;
  errorMsg: string | null;
  progress: number;
  groupId: number | null;
  platformName: string | null;
  manufacturer: string | null;
  osPlatform: string | null;
  meta: string;
  attributes: string;
  labels: string;
  facts: string;
  timestamp: string;
  createdAt: string;
  updatedAt: string;
}
export type NodeRow = Selectable<NodeTable>;

/** Exactly one of the three owners is set. */
export interface TagTable {
  id: Generated<number>;
  name: string;
  releaseId: number | null;
  pluginId: number | null;
  clusterId: number | null;
  readOnly: number;
  hasPrimary: number;
  metadata: string;
}
export type TagRow = Selectable<TagTable>;

export interface TagNodeAssignmentRow {
  clusterId: number;
  nodeId: number;
  tag: string;
  source: string;
  /** Empty for none: it is part of the key. */
  role: string;
}

import type { ClusterAnswer } from '../../../core/contracts/fuel/clusters.js';
import type { NodeAnswer } from '../../../core/contracts/fuel/nodes.js';
import type { PluginAnswer } from '../../../core/contracts/fuel/plugins.js';
import type { ReleaseAnswer } from '../../../core/contracts/fuel/releases.js';
import { isMapping } from '../../../core/plain-value.js';
import {
  type ClusterView,
  extendedReleases,
  hasUploadedFacts,
  isDeployable,
  type NodeView,
} from '../../../ops/index.js';
import type { Json, PluginRecord, ReleaseRecord } from '../../../store/index.js';

const objectOf = (value: Json | undefined): Json => (isMapping(value) ? value : {});
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const textsOf = (value: Json | undefined): readonly string[] => listOf(value).filter((one) => typeof one === 'string');

export function viewRelease(release: ReleaseRecord): ReleaseAnswer {
  const { metadata } = release;
  return {
    id: release.id,
    name: release.name,
    version: release.version,
    operating_system: release.operatingSystem,
    description: release.description,
    state: release.state as ReleaseAnswer['state'],
    is_deployable: isDeployable(release),
    modes: textsOf(metadata.modes),
    modes_metadata: objectOf(metadata.modes_metadata),
    roles: Object.keys(release.rolesMetadata),
    roles_metadata: release.rolesMetadata,
    tags_metadata: release.tagsMetadata,
    network_roles_metadata: listOf(metadata.network_roles_metadata),
    volumes_metadata: objectOf(metadata.volumes_metadata),
    components_metadata: listOf(metadata.components_metadata),
    required_component_types: listOf(metadata.required_component_types),
    vmware_attributes_metadata: objectOf(metadata.vmware_attributes_metadata),
    node_attributes: objectOf(metadata.node_attributes),
    nic_attributes: objectOf(metadata.nic_attributes),
    bond_attributes: objectOf(metadata.bond_attributes),
  };
}

export function viewCluster({ cluster, release, nodes, tags, busy }: ClusterView): ClusterAnswer {
  const changes = nodes.flatMap((node) => {
    const pending = [
      ...(node.pendingAddition ? ['pending_addition'] : []),
      ...(node.pendingDeletion ? ['pending_deletion'] : []),
      ...(!node.pendingAddition && node.pendingRoles.length > 0 ? ['pending_roles'] : []),
    ];
    return pending.map((name) => ({ name, node_id: node.id }));
  });
  return {
    id: cluster.id,
    name: cluster.name,
    status: cluster.status,
    release_id: cluster.releaseId,
    fuel_version: environmentVersion(release.version),
    mode: cluster.mode,
    net_provider: cluster.netProvider,
    site: cluster.site,
    is_customized: hasUploadedFacts(cluster),
    is_locked: cluster.isLocked || busy,
    changes,
    components: textsOf(cluster.components),
    tags,
    extensions: [],
    ui_settings: cluster.uiSettings,
  };
}

/** What stands behind the name in `newton-10.0`; the whole version where it has no such end. */
const environmentVersion = (version: string): string => /-(\d+(?:\.\d+)*)$/.exec(version)?.[1] ?? version;

export function viewNode({ node, tags, primaryTags }: NodeView): NodeAnswer {
  const { fqdn } = node.meta;
  return {
    id: node.id,
    name: node.name,
    hostname: node.hostname,
    fqdn: typeof fqdn === 'string' ? fqdn : node.hostname,
    site: node.site,
    cluster: node.clusterId,
    uuid: node.uuid,
    mac: node.mac,
    ip: node.ip,
    status: node.status,
    online: node.online,
    progress: node.progress,
    error_type: node.errorType,
    error_msg: node.errorMsg,
    roles: node.roles,
    pending_roles: node.pendingRoles,
    pending_addition: node.pendingAddition,
    pending_deletion: node.pendingDeletion,
    tags,
    primary_tags: primaryTags,
    labels: node.labels,
    meta: node.meta,
    group_id: node.groupId,
    os_platform: node.osPlatform,
    platform_name: node.platformName,
    manufacturer: node.manufacturer,
    kernel_params: null,
    network_data: listOf(node.meta.network_data),
    extensions: [],
    agent_checksum: null,
  };
}

export function viewPlugin(plugin: PluginRecord): PluginAnswer {
  const { metadata } = plugin;
  return {
    ...metadata,
    id: plugin.id,
    name: plugin.name,
    version: plugin.version,
    title: plugin.title,
    package_version: plugin.packageVersion,
    // Clients read the system as `os`.
    releases: extendedReleases(plugin).map((one) => ({
      ...one,
      os: one.os ?? one.operating_system ?? '',
      version: one.version ?? '',
    })),
  };
}

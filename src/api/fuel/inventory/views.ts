import { type ClusterAnswer, clusterSchema } from '../../../core/contracts/fuel/clusters.ts';
import { type NodeAnswer, nodeSchema } from '../../../core/contracts/fuel/nodes.ts';
import type { PluginAnswer } from '../../../core/contracts/fuel/plugins.ts';
import { type ReleaseAnswer, releaseSchema } from '../../../core/contracts/fuel/releases.ts';
import { given } from '../../../core/data/given.ts';
import { isMapping } from '../../../core/data/plain-value.ts';
import type { PluginWithTags } from '../../../ops/index.ts';
import {
  type ClusterView,
  extendedReleases,
  hasUploadedFacts,
  isDeployable,
  type NodeView,
  vmwareAttributes,
} from '../../../ops/index.ts';
import type { Json, ReleaseRecord } from '../../../store/index.ts';
import { shown } from '../../shown.ts';

const objectOf = (value: Json | undefined): Json => (isMapping(value) ? value : {});
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const textsOf = (value: Json | undefined): readonly string[] => listOf(value).filter((one) => typeof one === 'string');

const showRelease = shown(releaseSchema);
const showCluster = shown(clusterSchema);
const showNode = shown(nodeSchema);

export function viewRelease(release: ReleaseRecord): ReleaseAnswer {
  const { metadata } = release;
  return showRelease({
    ...release,
    state: release.state as ReleaseAnswer['state'],
    isDeployable: isDeployable(release),
    modes: textsOf(metadata.modes),
    modesMetadata: objectOf(metadata.modes_metadata),
    roles: Object.keys(release.rolesMetadata),
    networkRolesMetadata: listOf(metadata.network_roles_metadata),
    volumesMetadata: objectOf(metadata.volumes_metadata),
    componentsMetadata: listOf(metadata.components_metadata),
    requiredComponentTypes: listOf(metadata.required_component_types),
    vmwareAttributesMetadata: vmwareAttributes({ metadata }),
    nodeAttributes: objectOf(metadata.node_attributes),
    nicAttributes: objectOf(metadata.nic_attributes),
    bondAttributes: objectOf(metadata.bond_attributes),
  });
}

export function viewCluster({ cluster, release, nodes, tags, busy }: ClusterView): ClusterAnswer {
  const changes = nodes.flatMap((node) => {
    const pending = [
      ...(node.pendingAddition ? ['pending_addition'] : []),
      ...(node.pendingDeletion ? ['pending_deletion'] : []),
      ...(!node.pendingAddition && node.pendingRoles.length > 0 ? ['pending_roles'] : []),
    ];
    return pending.map((name) => ({ name, nodeId: node.id }));
  });
  return showCluster({
    ...cluster,
    fuelVersion: environmentVersion(release.version),
    isCustomized: hasUploadedFacts(cluster),
    isLocked: cluster.isLocked || busy,
    changes,
    components: textsOf(cluster.components),
    tags,
    extensions: [],
  });
}

/** The number after the name in `newton-10.0`; otherwise the whole version. */
const environmentVersion = (version: string): string => /-(\d+(?:\.\d+)*)$/.exec(version)?.[1] ?? version;

export function viewNode({ node, tags, primaryTags, maintenance }: NodeView): NodeAnswer {
  const { fqdn, network_data } = node.meta;
  return showNode({
    ...node,
    fqdn: typeof fqdn === 'string' ? fqdn : node.hostname,
    cluster: node.clusterId,
    tags,
    primaryTags,
    ...given({ maintenance }),
    kernelParams: null,
    networkData: listOf(network_data),
    extensions: [],
    agentChecksum: null,
  });
}

export function viewPlugin(plugin: PluginWithTags): PluginAnswer {
  const { metadata } = plugin;
  return {
    ...metadata,
    id: plugin.id,
    name: plugin.name,
    version: plugin.version,
    title: plugin.title,
    package_version: plugin.packageVersion,
    tags_metadata: plugin.tags,
    // Clients read the system as `os`.
    releases: extendedReleases(plugin).map((one) => ({
      ...one,
      os: one.os ?? one.operating_system ?? '',
      version: one.version ?? '',
    })),
  };
}

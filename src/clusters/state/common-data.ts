import { isMapping } from '../../core/data/plain-value.ts';
import type { Fields } from '../../graph/index.ts';
import { environmentVersion, mergedSettings } from '../settings.ts';
import { type ClusterNode, type ClusterSources, hostnameOf, uidOf } from '../sources.ts';
import { ALWAYS_EMPTY, type DataKeys } from './data-key.ts';
import { networksOfNode } from './node-networks.ts';

/** Sources of the data common to all nodes. */
interface CommonGiven {
  readonly sources: ClusterSources;
  /** The nodes that stay in the cluster. */
  readonly staying: readonly ClusterNode[];
  /** The tags for matching tasks, by node. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  readonly masterIp: string | undefined;
}

const version = ({ sources }: CommonGiven) => environmentVersion(sources.release.version);

/** Content of the common data. Settings are next to these keys, as in Fuel's serializers. */
export const COMMON_DATA: DataKeys<CommonGiven> = {
  cluster: {
    holds: '`id`, `name`, `mode`, `fuel_version`; see below for `status` and `site`',
    origin: 'the cluster',
    value: (given) => {
      const { id, name, mode } = given.sources.cluster;
      return { id, name, mode, ...(version(given) === undefined ? {} : { fuel_version: version(given) }) };
    },
  },
  deployment_id: { holds: 'id of the cluster', origin: 'the cluster', value: ({ sources }) => sources.cluster.id },
  deployment_mode: {
    holds: '`ha_compact`, `multinode` …',
    origin: 'the cluster',
    value: ({ sources }) => sources.cluster.mode,
  },
  fuel_version: { holds: 'version of the environment, such as 10.0', origin: 'the release', value: version },
  master_ip: {
    holds: 'address of the orchestrator',
    origin: 'the setting `master_ip` of Sitewright',
    value: ({ masterIp }) => masterIp,
  },
  network_metadata: {
    holds:
      '`nodes`: by host name `uid`, `fqdn`, `name`, `user_node_name`, `node_roles` (tags) and `network_roles` (addresses); `vips`',
    origin: 'the nodes that stay, their addresses in MAAS, and `vips` of the network configuration',
    value: ({ sources, sources: { cluster }, staying, tags }) => ({
      nodes: Object.fromEntries(
        staying.map((node) => [hostnameOf(node), networkRow(node, tags.get(uidOf(node))!, sources)]),
      ),
      vips: isMapping(cluster.networks.vips) ? cluster.networks.vips : {},
    }),
  },
  networks: {
    holds: 'the network configuration',
    origin: 'the network configuration, if any is stored',
    value: ({ sources: { cluster } }) => (Object.keys(cluster.networks).length === 0 ? undefined : cluster.networks),
  },
  nodes: {
    holds: 'a row for each node and tag: `uid`, `fqdn`, `name`, `user_node_name`, `role` (the tag); see below for more',
    origin: 'the nodes that stay',
    value: ({ staying, tags }) =>
      staying.flatMap((node) => tags.get(uidOf(node))!.map((role) => ({ ...identityOf(node), role }))),
  },
  openstack_version: {
    holds: 'such as `newton-10.0`',
    origin: 'the release',
    value: ({ sources }) => sources.release.version,
  },
  plugins: {
    holds: 'names of the enabled plugins',
    origin: 'the plugins',
    value: ({ sources }) => sources.plugins.map(({ name }) => name),
  },
  release: {
    holds: '`name`, `operating_system`, `version`',
    origin: 'the release',
    value: ({ sources: { release } }) => ({
      name: release.name,
      operating_system: release.operatingSystem,
      version: release.version,
    }),
  },
  vmware_attributes: {
    holds: 'the values of the VMware settings: `availability_zones`, `glance`, `network`',
    origin: 'the VMware settings of the cluster, else those of the release',
    value: ({ sources: { cluster } }) => (isMapping(cluster.vmware?.value) ? cluster.vmware.value : cluster.vmware),
  },
};

/** Facts of a cluster: read by name, without being content. */
export const COMMON_FACTS: DataKeys<{ readonly sources: ClusterSources }> = {
  settings: {
    holds: 'the settings in their stored groups: `$.settings.GROUP.NAME.value`',
    origin: 'the settings of the cluster, edited over generated ones',
    value: ({ sources }) => mergedSettings(sources.cluster.settings),
  },
  cluster: {
    holds: '`status` before the run (`new`, `operational`, `partially_deployed` …) and `site`, as `$.cluster.status`',
    origin: 'the cluster',
    value: ({ sources: { cluster } }) => ({ status: cluster.status, site: cluster.site }),
  },
  configs: ALWAYS_EMPTY,
};

export function identityOf(node: ClusterNode): Fields {
  const name = hostnameOf(node);
  return { uid: uidOf(node), fqdn: node.fqdn ?? name, name, user_node_name: node.name ?? name };
}

const networkRow = (node: ClusterNode, tags: readonly string[], sources: ClusterSources): Fields => ({
  ...identityOf(node),
  network_roles: networksOfNode(node, sources)?.roles ?? {},
  node_roles: tags,
});

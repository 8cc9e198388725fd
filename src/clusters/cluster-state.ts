import { isMapping } from '../core/plain-value.js';
import { type ClusterState, type Fields, MASTER, SYNC, type TaggedNode } from '../graph/index.js';
import { mergeOver } from './merge-over.js';
import { flattenSettings, valuesOf } from './settings.js';
import { type ClusterNode, type ClusterSources, hostnameOf, uidOf } from './sources.js';
import { type Catalogue, catalogueOfCluster, effectiveTags, tagsOfRoles, withPrimaries } from './tags/index.js';

/** Values from the environment that expressions may read. */
export interface Surroundings {
  /** Address of the orchestrator's machine: `master_ip`, and {MASTER_IP} in fields. */
  readonly masterIp?: string;
}

/**
 * The data of a cluster for task expressions: common data, and a part for each node of `tagged`, for `master` and for
 * the sync node. It has the shape of the reference's deployment information, as far as the store has the data: setting
 * values, `cluster`, `release`, the lists of nodes; of a node its address, status and tags. Uploaded data overrides it,
 * mapping by mapping; uploaded `nodes` and `network_metadata` replace our substitutes.
 */
export function clusterState(
  sources: ClusterSources,
  tagged: readonly TaggedNode[],
  surroundings: Surroundings = {},
): ClusterState {
  const uploaded = uploadedParts(sources.cluster.deploymentInfo);
  const rows = new Map(sources.nodes.map((node) => [uidOf(node), node]));
  const catalogue = catalogueOfCluster(sources);
  const parts = new Map<string, Fields>();
  for (const node of tagged) {
    const row = rows.get(node.uid)!;
    const facts = uploaded.nodes.get(node.uid);
    const tags = effectiveTags(row, sources, catalogue);
    // Uploaded facts are complete without `tags`, unless tags were changed by hand later.
    const whole = facts !== undefined && isSameSet(tags, tagsOfRoles(row, catalogue));
    const own = { ...nodePart(row, node), ...(whole ? {} : { tags }) };
    parts.set(node.uid, mergeOver(own, facts ?? {}));
  }
  parts.set(MASTER, mergeOver({ roles: [MASTER], uid: MASTER }, uploaded.nodes.get(MASTER) ?? {}));
  parts.set(SYNC, uploaded.nodes.get(SYNC) ?? {});
  const common = mergeOver(
    withoutSubstitutes(commonPart(sources, tagsForTasks(sources, tagged, catalogue), surroundings), uploaded.common),
    uploaded.common,
  );
  return { common, nodes: Object.fromEntries(parts) };
}

function uploadedParts(info: ClusterState): { common: Fields; nodes: ReadonlyMap<string, Fields> } {
  return { common: info.common, nodes: new Map(Object.entries(info.nodes)) };
}

const SUBSTITUTES = ['nodes', 'network_metadata'];

function withoutSubstitutes(common: Fields, uploaded: Fields): Fields {
  return Object.fromEntries(
    Object.entries(common).filter(([key]) => !(SUBSTITUTES.includes(key) && Object.hasOwn(uploaded, key))),
  );
}

/** The tags for matching tasks, by node, including nodes outside this run, so that every run sees the same. */
function tagsForTasks(
  sources: ClusterSources,
  tagged: readonly TaggedNode[],
  catalogue: Catalogue,
): ReadonlyMap<string, readonly string[]> {
  const tags = new Map(tagged.map((node) => [node.uid, node.tags]));
  for (const node of sources.nodes) {
    if (!tags.has(uidOf(node)))
      tags.set(uidOf(node), withPrimaries(effectiveTags(node, sources, catalogue), node.primaryTags));
  }
  return tags;
}

function commonPart(
  sources: ClusterSources,
  tags: ReadonlyMap<string, readonly string[]>,
  { masterIp }: Surroundings,
): Fields {
  const { cluster, release, plugins } = sources;
  const version = environmentVersion(release.version);
  const staying = sources.nodes.filter((node) => !node.pendingDeletion);
  return {
    ...flattenSettings(cluster.settings),
    cluster: {
      id: cluster.id,
      name: cluster.name,
      mode: cluster.mode,
      status: cluster.status,
      ...(version === undefined ? {} : { fuel_version: version }),
    },
    deployment_id: cluster.id,
    deployment_mode: cluster.mode,
    ...(version === undefined ? {} : { fuel_version: version }),
    ...(masterIp === undefined ? {} : { master_ip: masterIp }),
    network_metadata: {
      nodes: Object.fromEntries(staying.map((node) => [hostnameOf(node), networkPart(node, tags.get(uidOf(node))!)])),
      vips: isMapping(cluster.networks.vips) ? cluster.networks.vips : {},
    },
    nodes: staying.flatMap((node) => tags.get(uidOf(node))!.map((role) => ({ ...identityOf(node), role }))),
    openstack_version: release.version,
    plugins: plugins.map(({ name }) => name),
    release: { name: release.name, operating_system: release.operatingSystem, version: release.version },
    ...(Object.keys(cluster.networks).length === 0 ? {} : { networks: cluster.networks }),
  };
}

/** The version in `newton-10.0`. */
const environmentVersion = (version: string): string | undefined => /-(\d+(?:\.\d+)*)$/.exec(version)?.[1];

function identityOf(node: ClusterNode): Fields {
  const name = hostnameOf(node);
  return { uid: uidOf(node), fqdn: node.fqdn ?? name, name, user_node_name: node.name ?? name };
}

function networkPart(node: ClusterNode, tags: readonly string[]): Fields {
  return { ...identityOf(node), network_roles: {}, node_roles: tags };
}

function nodePart(node: ClusterNode, tagged: TaggedNode): Fields {
  const { uid, fqdn, user_node_name } = identityOf(node);
  const attributes = Object.entries(node.attributes).map(([name, group]) => [name, valuesOf(group)]);
  return {
    ...Object.fromEntries(attributes),
    uid,
    fqdn,
    user_node_name,
    ...(node.ip === null ? {} : { ip: node.ip }),
    online: node.online,
    status: node.status,
    roles: tagged.tags,
  };
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  new Set([...some, ...others]).size === new Set(some).size && new Set(some).size === new Set(others).size;

import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import { namesOfType } from '../core/graph-types.ts';
import type { ClusterState, Fields } from '../graph/index.ts';
import type {
  NodeRecord,
  PluginRecord,
  ReleaseRecord,
  Store,
  StoredGraph,
  TagAssignment,
  TagRecord,
} from '../store/index.ts';
import { maintenanceOf, noteOf } from './maintenance.ts';
import { mergeOver } from './merge-over.ts';
import { type NodeDefaults, nodeDefaults, partsOfNode, withInterfaceDefaults } from './node-defaults.ts';
import { nodeFilesOf, pluginFolder } from './package-preparations.ts';
import { fittingRecord, type PluginTarget } from './plugin-fit.ts';
import { stageTasksOf } from './plugin-tasks.ts';
import { usesTagsEngine } from './settings.ts';
import type { ClusterNode, ClusterSources, NodeFiles, PluginFacts, StoredLayer } from './sources.ts';
import type { RoleTagChange } from './tags/apply-role-tags.ts';
import { allRoles, catalogueOfCluster, tagsOfRoles } from './tags/of-sources.ts';
import { roleTagChanges, tagsAfter } from './tags/role-tag-changes.ts';

/** The ports for data of clusters. */
type ClusterPorts = Pick<Store, 'clusters' | 'releases' | 'plugins' | 'nodes' | 'nodeMaintenance' | 'tags' | 'graphs'>;

/** Reads everything that determines a cluster's plans. @throws StoreError `not-found` for the cluster */
export async function readClusterSources(store: ClusterPorts, clusterId: number): Promise<ClusterSources> {
  const cluster = await store.clusters.get(clusterId);
  const [release, plugins, nodes, tags, assignments, maintenance] = await Promise.all([
    store.releases.get(cluster.releaseId),
    store.plugins.ofCluster(clusterId, { enabled: true }),
    store.nodes.list({ clusterId }),
    store.tags.ofCluster(clusterId),
    store.tags.assignments(clusterId),
    store.nodeMaintenance.list(),
  ]);
  const tagsOfNode = new Map<number, TagAssignment[]>();
  for (const one of assignments) tagsOfNode.set(one.nodeId, [...(tagsOfNode.get(one.nodeId) ?? []), one]);
  const primaryTags = new Map<number, string[]>();
  for (const [tag, node] of Object.entries(cluster.primaries)) {
    primaryTags.set(node, [...(primaryTags.get(node) ?? []), tag]);
  }
  const owners = {
    cluster: {
      id: cluster.id,
      name: cluster.name,
      mode: cluster.mode,
      status: cluster.status,
      site: cluster.site,
      settings: cluster.attributes,
      ...vmwareOf(cluster.attributes, release.metadata),
      networks: cluster.networkConfig,
      // A cluster's own roles are stored with its settings.
      roles: isMapping(cluster.attributes.roles_metadata) ? cluster.attributes.roles_metadata : {},
      tags: tagsOwnedBy(tags, 'cluster', clusterId),
      placesByTags: usesTagsEngine(cluster.attributes),
      deploymentInfo: cluster.deploymentInfo as ClusterState,
      primaries: cluster.primaries,
      anyChoices: cluster.anyChoices,
    },
    release: {
      id: release.id,
      name: release.name,
      operatingSystem: release.operatingSystem,
      version: release.version,
      roles: release.rolesMetadata,
      tags: { ...release.tagsMetadata, ...tagsOwnedBy(tags, 'release', release.id) },
      ...networkRolesOf(release.metadata),
      ...checksOf(release.metadata),
      ...filesOf(nodeFilesOf(release.metadata, (await packageOf(store, release)) ?? release)),
    },
    plugins: plugins.map(({ plugin }) => pluginFacts(plugin, tags, { ...release, mode: cluster.mode })),
  };
  const catalogue = catalogueOfCluster(owners);
  const { roles } = catalogue;
  const defaults = nodeDefaults(
    release,
    plugins.map(({ plugin }) => plugin),
  );
  return {
    ...owners,
    nodes: nodes.map((node) => {
      const own = tagsOfNode.get(node.id) ?? [];
      const isNew = own.length === 0 && Object.keys(node.roleTags).length === 0;
      const changes = roleTagChanges({ roles: allRoles(node), roleTags: node.roleTags, assignments: own }, roles);
      const provision = provisionOf(cluster.attributes, node);
      return {
        ...nodeFacts(
          node,
          isNew ? tagsOfRoles(node, catalogue) : tagsAfter(own, changes),
          changes,
          primaryTags,
          defaults,
        ),
        ...given({ provision, maintenance: noteOf(maintenanceOf(maintenance, { cluster, nodes }, node)) }),
      };
    }),
  };
}

/** The layers of a cluster for one graph type; where an owner has it only by its other name, that one. */
export async function readGraphLayers(
  store: Pick<Store, 'graphs'>,
  sources: ClusterSources,
  type: string,
): Promise<readonly StoredLayer[]> {
  const named = await Promise.all(namesOfType(type).map((name) => store.graphs.layers(sources.cluster.id, name)));
  const release = named.find((layers) => layers.release !== null)?.release ?? null;
  const cluster = named.find((layers) => layers.cluster !== null)?.cluster ?? null;
  const plugins = new Map(
    named
      .toReversed()
      .flatMap((layers) => layers.plugins)
      .map((one) => [one.plugin.id, one]),
  );
  const facts = new Map(sources.plugins.map((plugin) => [plugin.id, plugin]));
  return [
    ...(release === null ? [] : [layerOf('release', release)]),
    ...[...plugins.values()].flatMap(({ plugin, graph }) => {
      const known = facts.get(plugin.id);
      // A plugin that was enabled just now; the next plan includes it.
      return known === undefined ? [] : [layerOf('plugins', graph, known)];
    }),
    ...(cluster === null ? [] : [layerOf('cluster', cluster)]),
  ];
}

function layerOf(layer: StoredLayer['layer'], graph: StoredGraph, plugin?: PluginFacts): StoredLayer {
  const { nodeFilter, tasks } = graph;
  const callback = (given: unknown): Fields | null => (isMapping(given) ? given : null);
  return {
    layer,
    nodeFilter,
    onSuccess: callback(graph.onSuccess),
    onError: callback(graph.onError),
    onStop: callback(graph.onStop),
    tasks,
    ...given({ plugin }),
  };
}

function tagsOwnedBy(tags: readonly TagRecord[], kind: TagRecord['owner']['kind'], id: number): Fields {
  return Object.fromEntries(
    tags
      .filter(({ owner }) => owner.kind === kind && owner.id === id)
      .map(({ name, hasPrimary, metadata }) => [name, { ...metadata, has_primary: hasPrimary }]),
  );
}

function vmwareOf(settings: Fields, release: Fields): { vmware?: Fields } {
  const initial = release.vmware_attributes_metadata ?? release.vmware_attributes;
  const vmware = settings.vmware ?? (isMapping(initial) ? initial.editable : undefined);
  return isMapping(vmware) ? { vmware } : {};
}

function provisionOf({ provisioning_facts: facts }: Fields, { id }: NodeRecord): Fields | undefined {
  const nodes = isMapping(facts) && Array.isArray(facts.nodes) ? facts.nodes : [];
  return nodes.filter(isMapping).find(({ uid }) => String(uid) === String(id));
}

const networkRolesOf = ({ network_roles_metadata: roles }: Fields) =>
  Array.isArray(roles) && roles.length > 0 ? { networkRoles: roles } : {};

const checksOf = ({ checks }: Fields) => (Array.isArray(checks) && checks.length > 0 ? { checks } : {});

const filesOf = (files: NodeFiles | undefined) => given({ files });

/** The plugin under whose name the package of a release is listed. */
async function packageOf(store: ClusterPorts, { packageId }: ReleaseRecord): Promise<PluginRecord | undefined> {
  return packageId === null ? undefined : (await store.plugins.list({ packageId }))[0];
}

function pluginFacts(plugin: PluginRecord, tags: readonly TagRecord[], target: PluginTarget): PluginFacts {
  const part = (name: string): Fields => {
    const value = plugin.metadata[name];
    return isMapping(value) ? value : {};
  };
  const files = nodeFilesOf(fittingRecord(plugin, target), plugin);
  return {
    id: plugin.id,
    name: plugin.name,
    // Of a plugin that came without a package, people bring the folder. A package without scripts has none.
    ...given({ path: files?.scripts !== undefined || plugin.packageId === null ? pluginFolder(plugin) : undefined }),
    ...filesOf(files),
    roles: part('roles_metadata'),
    tags: { ...part('tags_metadata'), ...tagsOwnedBy(tags, 'plugin', plugin.id) },
    legacyTasks: stageTasksOf(plugin),
    ...networkRolesOf(plugin.metadata),
    ...checksOf(plugin.metadata),
  };
}

function nodeFacts(
  node: NodeRecord,
  tags: readonly string[],
  changes: readonly RoleTagChange[],
  primaries: ReadonlyMap<number, readonly string[]>,
  defaults: NodeDefaults,
): ClusterNode {
  const meta = node.meta;
  const interfaces = withInterfaceDefaults(partsOfNode(meta, 'interfaces'), defaults);
  const disks = partsOfNode(meta, 'disks');
  return {
    id: node.id,
    name: node.name,
    hostname: node.hostname,
    fqdn: typeof meta.fqdn === 'string' ? meta.fqdn : null,
    ip: node.ip,
    status: node.status,
    online: node.online,
    pendingAddition: node.pendingAddition,
    pendingDeletion: node.pendingDeletion,
    errorType: node.errorType,
    roles: node.roles,
    pendingRoles: node.pendingRoles,
    tags,
    roleTagChanges: changes,
    primaryTags: primaries.get(node.id) ?? [],
    attributes: mergeOver(defaults.node, node.attributes),
    ...(interfaces.length === 0 ? {} : { interfaces }),
    ...(disks.length === 0 ? {} : { disks }),
    labels: node.labels,
  };
}

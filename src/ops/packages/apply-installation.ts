import { pluginFits } from '../../clusters/plugin-fit.ts';
import { calledText } from '../../core/names.ts';
import type {
  GraphContent,
  GraphOwner,
  JsonObject,
  NewTag,
  PackageRecord,
  ReleaseRecord,
  StorePorts,
} from '../../store/index.ts';
import type { GeneratorContext } from '../inventory/generate-settings.ts';
import { objectOf } from '../inventory/json-object.ts';
import { tagsOfRelease } from '../inventory/releases.ts';
import { pluginDefaults } from '../inventory/settings.ts';
import { problem } from '../problem.ts';
import type { ReadPackage } from './read-package.ts';
import { compareVersions, seriesOf } from './version-order.ts';

export interface Applied {
  readonly package: PackageRecord;
  /** No package of this series was installed before. */
  readonly created: boolean;
  /** The replaced version, if it differs. */
  readonly replaced: string | null;
}

interface Choices {
  /** The package as it was sent. */
  readonly archive: Uint8Array;
  readonly force: boolean;
  /** Whether other versions of its series stay, for clusters to move between them. */
  readonly beside: boolean;
  readonly masterIp: string;
}

/** The first format whose packages can be updated in place. */
const FIRST_UPDATABLE = '2.0.0';

/**
 * Stores a package and its contents: its releases with roles, tags and graphs, and its plugin. Replaces a package
 * of the same name and series, unless it is installed beside it: its releases and plugin keep their ids and are updated. Idempotent. The caller provides
 * the transaction.
 *
 * @throws `conflict`: an older version without `force`; a release or plugin with the same name and version from another
 * source; a release with clusters that the package no longer has. `invalid`: a role of nodes that the package no longer
 * has
 */
export async function applyInstallation(
  store: StorePorts,
  read: ReadPackage,
  { archive, force, beside, masterIp }: Choices,
): Promise<Applied> {
  const { installation } = read;
  const previous = await previousOf(store, read, { force, beside });
  await refuseForeign(store, read, previous, force);
  const put = await store.packages.put({
    name: installation.name,
    version: installation.version,
    packageVersion: installation.packageVersion,
    kind: installation.kind,
    archive,
    metadata: installation.tree,
  });
  const record = put.package;
  await putReleases(store, read, record, previous);
  await putPlugin(store, read, record, previous, { masterIp });
  if (previous !== undefined && previous.id !== record.id) await store.packages.delete(previous.id);
  return {
    package: record,
    created: previous === undefined,
    replaced: previous === undefined || previous.version === record.version ? null : previous.version,
  };
}

async function previousOf(
  store: StorePorts,
  { installation }: ReadPackage,
  { force, beside }: Pick<Choices, 'force' | 'beside'>,
): Promise<PackageRecord | undefined> {
  const { name, version, packageVersion, title } = installation;
  const updatable = (format: string) => compareVersions(format, FIRST_UPDATABLE) >= 0;
  const known = (await store.packages.list()).filter((one) => one.name === name);
  const same = known.find((one) => one.version === version);
  if (beside || !updatable(packageVersion)) return same;
  const [latest] = known
    .filter((one) => seriesOf(one.version) === seriesOf(version) && updatable(one.packageVersion))
    .sort((a, b) => compareVersions(b.version, a.version));
  if (latest !== undefined && compareVersions(latest.version, version) > 0 && !force) {
    throw problem('conflict', `Nothing to do: ${title}, version ${version}, does not update installed plugin.`, {
      hint: `Version ${latest.version} is installed. Replace it with --force (API: force=1), or install ${version} next to it with --beside (API: beside=1).`,
    });
  }
  return latest ?? same;
}

/** Refuses a release or plugin with the same name and version from another source than the replaced package. */
async function refuseForeign(
  store: StorePorts,
  { installation }: ReadPackage,
  previous: PackageRecord | undefined,
  force: boolean,
): Promise<void> {
  const foreign = (packageId: number | null): boolean => (packageId === null ? !force : packageId !== previous?.id);
  const hint = async (packageId: number | null): Promise<string> => {
    if (packageId === null)
      return 'It was created by hand: rename or delete it, or take it over with --force (API: force=1).';
    const { name, version } = await store.packages.get(packageId);
    return `It belongs to package ${name} ${version}: remove that package first, or choose another name or version.`;
  };
  for (const { name, version } of installation.releases) {
    const release = await store.releases.find(name, version);
    if (release === null || !foreign(release.packageId)) continue;
    throw problem('conflict', `Release with the same name and version already exists: ${name} ${version}`, {
      hint: await hint(release.packageId),
    });
  }
  const plugin = await store.plugins.find(installation.name, installation.version);
  if (plugin === null || !foreign(plugin.packageId)) return;
  throw problem(
    'conflict',
    `Plugin with the same name and version already exists: ${installation.name} ${installation.version}`,
    {
      hint: await hint(plugin.packageId),
    },
  );
}

async function putReleases(
  store: StorePorts,
  { installation, releaseGraphs }: ReadPackage,
  record: PackageRecord,
  previous: PackageRecord | undefined,
): Promise<void> {
  const before = previous === undefined ? [] : await store.releases.list({ packageId: previous.id });
  const kept = new Set<number>();
  for (const [index, release] of installation.releases.entries()) {
    const content = {
      name: release.name,
      version: release.version,
      operatingSystem: release.operatingSystem,
      description: release.description,
      state: 'available',
      isDeployable: true,
      rolesMetadata: release.roles,
      tagsMetadata: release.tags,
      metadata: release.metadata,
      packageId: record.id,
    };
    const known = await store.releases.find(release.name, release.version);
    if (known !== null) await refuseLostRoles(store, known, release.roles);
    const stored =
      known === null ? await store.releases.create(content) : await store.releases.update(known.id, content);
    kept.add(stored.id);
    const owner = { kind: 'release', id: stored.id } as const;
    await store.tags.replaceReadOnly(owner, tagsOfRelease(stored));
    await putGraphs(store, owner, releaseGraphs[index]!, graphTypesOf(previous, release.name));
  }
  for (const { id } of before) if (!kept.has(id)) await store.releases.delete(id);
}

async function refuseLostRoles(store: StorePorts, release: ReleaseRecord, roles: JsonObject): Promise<void> {
  const lost = Object.keys(release.rolesMetadata).filter((role) => !Object.hasOwn(roles, role));
  if (lost.length === 0) return;
  for (const cluster of await store.clusters.list({ releaseId: release.id })) {
    for (const node of await store.nodes.list({ clusterId: cluster.id, roles: lost })) {
      const held = lost.filter((role) => [...node.roles, ...node.pendingRoles].includes(role));
      throw problem(
        'invalid',
        `Can't delete role ${held.join(', ')} that is assigned to ${calledText('node', node)}.`,
        {
          hint: `Keep the role in the package, or remove it from the nodes of cluster ${cluster.name} first.`,
        },
      );
    }
  }
}

async function putPlugin(
  store: StorePorts,
  { installation, pluginGraphs }: ReadPackage,
  record: PackageRecord,
  previous: PackageRecord | undefined,
  generators: GeneratorContext,
): Promise<void> {
  const { name, version, title, packageVersion, plugin } = installation;
  const content = { name, version, title, packageVersion, metadata: plugin.metadata, packageId: record.id };
  const [before] = previous === undefined ? [] : await store.plugins.list({ packageId: previous.id });
  const known = before ?? (await store.plugins.find(name, version)) ?? undefined;
  const stored =
    known === undefined ? await store.plugins.create(content) : await store.plugins.update(known.id, content);
  const owner = { kind: 'plugin', id: stored.id } as const;
  await store.tags.replaceReadOnly(owner, tagsOf(plugin.roles, plugin.tags));
  await putGraphs(store, owner, pluginGraphs, graphTypesOf(previous, null));
  if (installation.kind === 'release') return;
  for (const cluster of await store.clusters.list()) {
    const linked = await store.plugins.ofCluster(cluster.id);
    if (linked.some((one) => one.plugin.id === stored.id)) continue;
    const release = await store.releases.get(cluster.releaseId);
    if (!pluginFits(stored, { ...release, mode: cluster.mode })) continue;
    await store.plugins.link(cluster.id, stored.id, { attributes: pluginDefaults(stored, generators) });
  }
}

const tagsOf = (roles: JsonObject, tags: JsonObject): NewTag[] =>
  tagsOfRelease({ rolesMetadata: roles, tagsMetadata: tags });

/** Updates the owner's graphs from the package. Graphs from other sources stay. */
async function putGraphs(
  store: StorePorts,
  owner: GraphOwner,
  graphs: ReadonlyMap<string, GraphContent>,
  before: readonly string[],
): Promise<void> {
  for (const [type, content] of graphs) await store.graphs.put(owner, type, content);
  for (const type of before) {
    if (graphs.has(type)) continue;
    const gone = await store.graphs.find(owner, type);
    if (gone === null) continue;
    // The default graph always exists.
    if (type === 'default') await store.graphs.update(gone.id, { tasks: [] });
    else await store.graphs.delete(gone.id);
  }
}

/** Graph types in a stored package: of one of its releases, or of its plugin. */
function graphTypesOf(stored: PackageRecord | undefined, release: string | null): string[] {
  if (stored === undefined) return [];
  const { releases } = stored.metadata;
  const records = Array.isArray(releases) ? releases.map(objectOf) : [];
  const owner =
    release === null
      ? stored.metadata
      : objectOf(records.find((one) => one.is_release === true && (one.release_name ?? one.name) === release));
  const graphs = Array.isArray(owner.graphs) ? owner.graphs : objectOf(owner.base_release).graphs;
  const types = Array.isArray(graphs) ? graphs.map((graph) => objectOf(graph).type) : [];
  const tasks = owner.deployment_tasks ?? objectOf(owner.base_release).deployment_tasks;
  return [
    ...types.filter((type): type is string => typeof type === 'string'),
    ...(Array.isArray(tasks) ? ['default'] : []),
  ];
}

import type { PackageRecord, PluginRecord, StorePorts } from '../store/index.ts';

/** A package, as it was or is installed. */
interface PackageVersion {
  readonly name: string;
  readonly version: string;
}

/** A release or plugin with the package that brought it; null where it was made by hand. */
export interface PartVersion extends PackageVersion {
  readonly id: number;
  readonly package: PackageVersion | null;
}

/** What a cluster is built of: kept with each of its runs, to tell later what a node has. */
export interface ClusterVersions {
  readonly release: PartVersion;
  /** The enabled ones. */
  readonly plugins: readonly PartVersion[];
  /** Number of the revision of its settings; null before their first change. */
  readonly settings: number | null;
}

type VersionPorts = Pick<StorePorts, 'clusters' | 'releases' | 'plugins' | 'packages' | 'settingsRevisions'>;

/** @throws StoreError `not-found` for the cluster */
export async function versionsOfCluster(store: VersionPorts, cluster: number): Promise<ClusterVersions> {
  const { releaseId } = await store.clusters.brief(cluster);
  const [release, linked, packages, settings] = await Promise.all([
    store.releases.get(releaseId),
    store.plugins.ofCluster(cluster, { enabled: true }),
    store.packages.list(),
    store.settingsRevisions.newest(cluster),
  ]);
  const byId = new Map(packages.map((one) => [one.id, one]));
  return {
    release: partVersion(release, byId),
    plugins: linked.map(({ plugin }) => partVersion(plugin, byId)),
    settings,
  };
}

/** A release or plugin by name and version, with its package among these. */
export function partVersion(
  { id, name, version, packageId }: Pick<PluginRecord, 'id' | 'name' | 'version' | 'packageId'>,
  packages: ReadonlyMap<number, PackageRecord>,
): PartVersion {
  const from = packageId === null ? undefined : packages.get(packageId);
  return { id, name, version, package: from === undefined ? null : { name: from.name, version: from.version } };
}

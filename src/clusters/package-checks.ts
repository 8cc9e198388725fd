import { type Check, checkOf, type WrittenCheck } from '../core/checks/check.ts';
import { packageChecksSchema } from '../documents/index.ts';
import type { Store } from '../store/index.ts';
import { clusterOfSite } from './cluster-of-site.ts';
import type { ClusterSources } from './sources.ts';

/** The checks that packages bring to a cluster, by name: those of plugins replace those of the release. */
export const checksOfPackages = ({
  release,
  plugins,
}: {
  readonly release: Pick<ClusterSources['release'], 'checks'>;
  readonly plugins: readonly Pick<ClusterSources['plugins'][number], 'checks'>[];
}): readonly Check[] => withChecks([release, ...plugins].map(({ checks = [] }) => read(checks)));

/**
 * The checks that can be asked about a site: those of its documents, and those of the packages of its cluster, which these replace by name.
 *
 * @param cluster of the run that asks; absent: that of the site
 */
export async function checksOfSite(
  store: Pick<Store, 'clusters' | 'sites' | 'releases' | 'plugins'>,
  site: string,
  documents: readonly Check[] = [],
  cluster?: number,
): Promise<readonly Check[]> {
  const id = cluster ?? (await clusterOfSite(store, site));
  if (id === undefined) return documents;
  const { releaseId } = await store.clusters.get(id);
  const [release, plugins] = await Promise.all([
    store.releases.get(releaseId),
    store.plugins.ofCluster(id, { enabled: true }),
  ]);
  const packages = [release, ...plugins.map(({ plugin }) => plugin)];
  return withChecks([...packages.map(({ metadata }) => read(metadata.checks)), documents]);
}

/** Later ones replace earlier ones by name. */
export const withChecks = (layers: readonly (readonly Check[])[]): readonly Check[] => [
  ...new Map(layers.flat().map((check) => [check.name, check])).values(),
];

/** An installation has refused all others; who changes a release by hand may leave something else. */
function read(documents: unknown): readonly Check[] {
  const found = packageChecksSchema.safeParse(documents);
  return found.success ? found.data.map(({ metadata, data }) => checkOf(metadata.name, data as WrittenCheck)) : [];
}

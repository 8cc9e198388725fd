import type { Store } from '../store/index.ts';

/** The cluster of a site: the one that the site names, or else the first that names the site. */
export async function clusterOfSite(
  store: Pick<Store, 'clusters' | 'sites'>,
  site: string,
): Promise<number | undefined> {
  const [{ cluster }, linked] = await Promise.all([store.sites.get(site), store.clusters.list({ site })]);
  if (cluster === null) return linked[0]?.id;
  if (/^\d+$/.test(cluster)) {
    const [named] = await store.clusters.list({ ids: [Number(cluster)] });
    if (named !== undefined) return named.id;
  }
  return (await store.clusters.find(cluster))?.id;
}

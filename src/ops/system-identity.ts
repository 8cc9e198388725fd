import type { OpsDependencies } from './dependencies.ts';

/** What tells this system from others: people start a second one in another folder, and wonder where their sites are. */
export async function systemIdentity({ store, temporal }: Pick<OpsDependencies, 'store' | 'temporal'>) {
  const [{ dialect, location, applied }, sites, clusters, runs] = await Promise.all([
    store.status(),
    store.sites.list(),
    store.clusters.list(),
    store.runs.list({ limit: 1 }),
  ]);
  const [first] = applied.map(({ appliedAt }) => appliedAt).toSorted();
  return {
    store: `${dialect} at ${location}`,
    since: first ?? new Date(0).toISOString(),
    temporal: `${temporal.address}, namespace ${temporal.namespace}`,
    empty: sites.length === 0 && clusters.length === 0 && runs.items.length === 0,
  };
}

import type { Kysely } from 'kysely';
import type { ConflictUser } from '../failure.ts';
import type { Tables } from '../tables.ts';

/** Clusters that use one of the releases, or are pending to. */
export async function clustersOfReleases(db: Kysely<Tables>, ids: readonly number[]): Promise<ConflictUser[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('cluster')
    .select(['id', 'name'])
    .where((eb) => eb.or([eb('releaseId', 'in', ids), eb('pendingReleaseId', 'in', ids)]))
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ kind: 'cluster', ...row }));
}

/** Clusters in which one of the plugins is enabled. */
export async function clustersOfPlugins(db: Kysely<Tables>, ids: readonly number[]): Promise<ConflictUser[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('clusterPlugin')
    .innerJoin('cluster', 'cluster.id', 'clusterPlugin.clusterId')
    .select(['cluster.id', 'cluster.name'])
    .distinct()
    .where('clusterPlugin.pluginId', 'in', ids)
    .where('clusterPlugin.enabled', '=', 1)
    .orderBy('cluster.id')
    .execute();
  return rows.map((row) => ({ kind: 'cluster', ...row }));
}

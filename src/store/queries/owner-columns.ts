import { expressionBuilder, type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { assertRow, lockRow } from './identified-row.ts';

/** Owner of a graph. */
export interface GraphOwner {
  readonly kind: 'release' | 'plugin' | 'cluster';
  readonly id: number;
}

/** The owner of a graph or tag as three columns, one of which is set. */
interface OwnerColumns {
  releaseId: number | null;
  pluginId: number | null;
  clusterId: number | null;
}

/** Name of the column that is set. */
export const ownerColumn = {
  release: 'releaseId',
  plugin: 'pluginId',
  cluster: 'clusterId',
} as const satisfies Record<GraphOwner['kind'], keyof OwnerColumns>;

export const columnsOfOwner = ({ kind, id }: GraphOwner): OwnerColumns => ({
  releaseId: null,
  pluginId: null,
  clusterId: null,
  [ownerColumn[kind]]: id,
});

export function ownerOf({ releaseId, pluginId, clusterId }: OwnerColumns): GraphOwner {
  if (releaseId !== null) return { kind: 'release', id: releaseId };
  if (pluginId !== null) return { kind: 'plugin', id: pluginId };
  return { kind: 'cluster', id: clusterId! };
}

/** @throws StoreError of kind `not-found` */
export const assertOwner = (db: Kysely<Tables>, owner: GraphOwner): Promise<void> =>
  assertRow(db, owner.kind, owner.id);

/** Locks the owner's row for this transaction. @throws StoreError of kind `not-found` */
export async function holdOwner(transaction: Transaction<Tables>, owner: GraphOwner): Promise<void> {
  await lockRow(transaction, owner.kind, owner.id);
}

/** Condition: owned by the cluster, its release, or a plugin enabled in it. */
export const reaching = (db: Kysely<Tables>, clusterId: number, releaseId: number) =>
  expressionBuilder<Tables, 'graph' | 'tag'>().or([
    sql<SqlBool>`${sql.ref('clusterId')} = ${clusterId}`,
    sql<SqlBool>`${sql.ref('releaseId')} = ${releaseId}`,
    sql<SqlBool>`${sql.ref('pluginId')} in ${enabledPlugins(db, clusterId)}`,
  ]);

/** Ids of the plugins that are enabled in a cluster. */
const enabledPlugins = (db: Kysely<Tables>, clusterId: number) =>
  db.selectFrom('clusterPlugin').select('pluginId').where('clusterId', '=', clusterId).where('enabled', '=', 1);

import { inUse } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { JsonFields } from '../page.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { changedColumns, newRow, recordOf } from './conversion.ts';
import { assertRow, deleteRow, holdRow, lockRow } from './identified-row.ts';
import { clustersOfPlugins } from './users-of.ts';
import { insertVersion, VersionedStore } from './versioned-store.ts';

/** Extensions of clusters. */
export type PluginRecord = Stored<'plugin'>;

type NewPlugin = New<'plugin'>;

/** A plugin that is compatible with a cluster. It contributes to the cluster's graphs only while enabled. */
type ClusterPlugin = Stored<'clusterPlugin'>;

/** Plugins. An unknown id is `not-found` for every call but `list` and `find`. */
export class PluginStore extends VersionedStore<'plugin'> {
  readonly #session: Session;

  constructor(session: Session) {
    super(session, 'plugin');
    this.#session = session;
  }

  /** @throws `conflict` when name and version are taken. */
  async create(plugin: NewPlugin): Promise<PluginRecord> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const { title = plugin.name } = plugin;
    const row = newRow('plugin', check, plugin, { title, createdAt: now, updatedAt: now });
    check.done();
    return this.#session.write(async (transaction) =>
      recordOf('plugin', await insertVersion(transaction, 'plugin', row)),
    );
  }

  /** Removes the plugin with its graphs and tags. @throws `conflict` with `users` while clusters have it enabled. */
  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const { name, version } = await holdRow(transaction, 'plugin', id);
      const users = await clustersOfPlugins(transaction, [id]);
      if (users.length > 0)
        throw inUse(`The plugin "${name}" ${version}`, users, 'Disable it in these clusters first.');
      await deleteRow(transaction, 'plugin', id);
    });
  }

  /** Links the plugin to the cluster, or changes the link. Absent fields keep their values; a new link is disabled. */
  async link(
    clusterId: number,
    pluginId: number,
    change: { readonly enabled?: boolean; readonly attributes?: JsonFields } = {},
  ): Promise<ClusterPlugin> {
    const check = new InputCheck();
    const columns = changedColumns('clusterPlugin', check, change);
    const row = newRow('clusterPlugin', check, { clusterId, pluginId, ...change }, {});
    check.done();
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', clusterId);
      await lockRow(transaction, 'plugin', pluginId);
      const stored = await transaction
        .insertInto('clusterPlugin')
        .values(row)
        .onConflict((on) => on.columns(['clusterId', 'pluginId']).doUpdateSet({ clusterId, ...columns }))
        .returningAll()
        .executeTakeFirstOrThrow();
      return recordOf('clusterPlugin', stored);
    });
  }

  /** Plugins of a cluster by id, each with its link. */
  ofCluster(
    clusterId: number,
    filter: { readonly enabled?: boolean } = {},
  ): Promise<readonly { readonly plugin: PluginRecord; readonly link: ClusterPlugin }[]> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'cluster', clusterId);
      let query = db
        .selectFrom('clusterPlugin')
        .innerJoin('plugin', 'plugin.id', 'clusterPlugin.pluginId')
        .selectAll('plugin')
        .select(['clusterPlugin.enabled', 'clusterPlugin.attributes'])
        .where('clusterPlugin.clusterId', '=', clusterId);
      if (filter.enabled !== undefined) query = query.where('clusterPlugin.enabled', '=', Number(filter.enabled));
      const rows = await query.orderBy('plugin.id').execute();
      return rows.map(({ enabled, attributes, ...row }) => ({
        plugin: recordOf('plugin', row),
        link: recordOf('clusterPlugin', { clusterId, pluginId: row.id, enabled, attributes }),
      }));
    });
  }
}

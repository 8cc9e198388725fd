import { inUse } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { JsonFields } from '../ports/page.ts';
import type { ClusterPlugin, NewPlugin, PluginRecord, PluginStore } from '../ports/plugin-store.ts';
import type { Session } from '../session.ts';
import { changedColumns, newRow, recordOf } from './conversion.ts';
import { assertRow, deleteRow, holdRow } from './identified-row.ts';
import { clustersOfPlugins } from './users-of.ts';
import { insertVersion, VersionedStore } from './versioned-store.ts';

/** PluginStore on either database. */
export class SqlPluginStore extends VersionedStore<'plugin'> implements PluginStore {
  readonly #session: Session;

  constructor(session: Session) {
    super(session, 'plugin');
    this.#session = session;
  }

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

  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const { name, version } = await holdRow(transaction, 'plugin', id);
      const users = await clustersOfPlugins(transaction, [id]);
      if (users.length > 0)
        throw inUse(`The plugin "${name}" ${version}`, users, 'Disable it in these clusters first.');
      await deleteRow(transaction, 'plugin', id);
    });
  }

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
      await holdRow(transaction, 'cluster', clusterId);
      await holdRow(transaction, 'plugin', pluginId);
      const stored = await transaction
        .insertInto('clusterPlugin')
        .values(row)
        .onConflict((on) => on.columns(['clusterId', 'pluginId']).doUpdateSet({ clusterId, ...columns }))
        .returningAll()
        .executeTakeFirstOrThrow();
      return recordOf('clusterPlugin', stored);
    });
  }

  ofCluster(clusterId: number, filter: { readonly enabled?: boolean } = {}) {
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

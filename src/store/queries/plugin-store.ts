import { conflict, inUse } from '../failure.js';
import { InputCheck, storable } from '../input.js';
import type { JsonFields, JsonObject } from '../ports/page.js';
import type { ClusterPlugin, NewPlugin, PluginChange, PluginRecord, PluginStore } from '../ports/plugin-store.js';
import type { Session } from '../session.js';
import type { ClusterPluginRow, PluginRow } from '../tables/cluster-rows.js';
import { assertRow, deleteRow, holdRow, isId, readRow } from './identified-row.js';
import { clustersOfPlugins } from './users-of.js';

/** PluginStore on either database. */
export class SqlPluginStore implements PluginStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async create(plugin: NewPlugin): Promise<PluginRecord> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const name = check.key('name', plugin.name);
    const row = {
      name,
      version: check.key('version', plugin.version),
      title: plugin.title === undefined ? name : storable(plugin.title),
      packageVersion: check.key('packageVersion', plugin.packageVersion),
      metadata: check.json('metadata', plugin.metadata ?? {}),
      packageId: plugin.packageId ?? null,
      createdAt: now,
      updatedAt: now,
    };
    check.done();
    return this.#session.write(async (transaction) => {
      if (row.packageId !== null) await assertRow(transaction, 'package', row.packageId);
      const stored = await transaction
        .insertInto('plugin')
        .values(row)
        .onConflict((on) => on.columns(['name', 'version']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (stored === undefined) throw taken(row.name, row.version);
      return pluginOf(stored);
    });
  }

  get(id: number): Promise<PluginRecord> {
    return this.#session.read(async (db) => pluginOf(await readRow(db, 'plugin', id)));
  }

  find(name: string, version: string): Promise<PluginRecord | null> {
    return this.#session.read(async (db) => {
      const row = await db
        .selectFrom('plugin')
        .selectAll()
        .where('name', '=', storable(name))
        .where('version', '=', storable(version))
        .executeTakeFirst();
      return row === undefined ? null : pluginOf(row);
    });
  }

  async list(filter: { readonly ids?: readonly number[]; readonly packageId?: number } = {}) {
    const ids = filter.ids?.filter(isId);
    if (ids?.length === 0) return [];
    return this.#session.read(async (db) => {
      let query = db.selectFrom('plugin').selectAll();
      if (ids !== undefined) query = query.where('id', 'in', ids);
      if (filter.packageId !== undefined) query = query.where('packageId', '=', filter.packageId);
      return (await query.orderBy('id').execute()).map(pluginOf);
    });
  }

  async update(id: number, change: PluginChange): Promise<PluginRecord> {
    const check = new InputCheck();
    const columns = {
      name: change.name === undefined ? undefined : check.key('name', change.name),
      version: change.version === undefined ? undefined : check.key('version', change.version),
      title: change.title === undefined ? undefined : storable(change.title),
      packageVersion:
        change.packageVersion === undefined ? undefined : check.key('packageVersion', change.packageVersion),
      metadata: change.metadata === undefined ? undefined : check.json('metadata', change.metadata),
      packageId: change.packageId,
    };
    check.done();
    return this.#session.write(async (transaction) => {
      const present = await holdRow(transaction, 'plugin', id);
      if (columns.packageId != null) await assertRow(transaction, 'package', columns.packageId);
      const { name = present.name, version = present.version } = columns;
      const other = await transaction
        .selectFrom('plugin')
        .select('id')
        .where('name', '=', name)
        .where('version', '=', version)
        .where('id', '!=', id)
        .executeTakeFirst();
      if (other !== undefined) throw taken(name, version);
      const row = await transaction
        .updateTable('plugin')
        .set({ ...columns, updatedAt: new Date().toISOString() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return pluginOf(row);
    });
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
    const columns = {
      enabled: change.enabled === undefined ? undefined : Number(change.enabled),
      attributes: change.attributes === undefined ? undefined : check.json('attributes', change.attributes),
    };
    check.done();
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'cluster', clusterId);
      await holdRow(transaction, 'plugin', pluginId);
      const row = await transaction
        .insertInto('clusterPlugin')
        .values({ clusterId, pluginId, enabled: columns.enabled ?? 0, attributes: columns.attributes ?? '{}' })
        .onConflict((on) => on.columns(['clusterId', 'pluginId']).doUpdateSet({ clusterId, ...columns }))
        .returningAll()
        .executeTakeFirstOrThrow();
      return linkOf(row);
    });
  }

  unlink(clusterId: number, pluginId: number): Promise<boolean> {
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'cluster', clusterId);
      await assertRow(transaction, 'plugin', pluginId);
      const { numDeletedRows } = await transaction
        .deleteFrom('clusterPlugin')
        .where('clusterId', '=', clusterId)
        .where('pluginId', '=', pluginId)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
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
        plugin: pluginOf(row),
        link: linkOf({ clusterId, pluginId: row.id, enabled, attributes }),
      }));
    });
  }
}

const taken = (name: string, version: string) =>
  conflict(
    `There is a plugin "${name}" with version ${version} already.`,
    'Change that one, or choose another version.',
  );

const pluginOf = (row: PluginRow): PluginRecord => ({ ...row, metadata: JSON.parse(row.metadata) as JsonObject });

const linkOf = (row: ClusterPluginRow): ClusterPlugin => ({
  ...row,
  enabled: row.enabled !== 0,
  attributes: JSON.parse(row.attributes) as JsonObject,
});

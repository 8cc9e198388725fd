import type { Migration } from './migration.ts';

/** OpenStack configuration of clusters, roles and nodes. */
export const openstackConfigs: Migration = {
  version: 7,
  name: 'openstack-configs',
  breaking: false,
  async up(db, { integer, serial, text }) {
    await db.schema
      .createTable('openstack_config')
      .addColumn('id', serial)
      .addColumn('cluster_id', integer, (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('node_id', integer, (column) => column.references('node.id').onDelete('cascade'))
      .addColumn('node_role', text)
      .addColumn('configuration', text, (column) => column.notNull())
      .addColumn('is_active', integer, (column) => column.notNull())
      .addColumn('created_at', text, (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('openstack_config_of_cluster')
      .on('openstack_config')
      .columns(['cluster_id', 'is_active'])
      .execute();
  },
};

import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** The inventory, and which node of a cluster is primary for a tag. */
export async function createNodes(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, serial } = types;
  // No cascade: the nodes of a deleted cluster stay.
  await db.schema
    .createTable('node')
    .addColumn('id', serial)
    .addColumn('uuid', text, (column) => column.notNull().unique())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('hostname', text, (column) => column.notNull())
    .addColumn('site', text)
    .addColumn('mac', text, (column) => column.unique())
    .addColumn('ip', text)
    .addColumn('cluster_id', integer, (column) => column.references('cluster.id'))
    .addColumn('roles', text, (column) => column.notNull())
    .addColumn('pending_roles', text, (column) => column.notNull())
    .addColumn('role_tags', text, (column) => column.notNull())
    .addColumn('primary_roles', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('online', integer, (column) => column.notNull())
    .addColumn('pending_addition', integer, (column) => column.notNull())
    .addColumn('pending_deletion', integer, (column) => column.notNull())
    .addColumn('error_type', text)
    .addColumn('error_msg', text)
    .addColumn('progress', integer, (column) => column.notNull())
    .addColumn('group_id', integer)
    .addColumn('platform_name', text)
    .addColumn('manufacturer', text)
    .addColumn('os_platform', text)
    .addColumn('meta', text, (column) => column.notNull())
    .addColumn('attributes', text, (column) => column.notNull())
    .addColumn('labels', text, (column) => column.notNull())
    .addColumn('facts', text, (column) => column.notNull())
    .addColumn('timestamp', text, (column) => column.notNull())
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .addUniqueConstraint('node_hostname', ['site', 'hostname'])
    .execute();
  await db.schema.createIndex('node_by_cluster').on('node').column('cluster_id').execute();

  // Without references: a machine of a site may be in maintenance before the inventory has it.
  await db.schema
    .createTable('node_maintenance')
    .addColumn('site', text, (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('reason', text, (column) => column.notNull())
    .addColumn('by', text, (column) => column.notNull())
    .addColumn('since', text, (column) => column.notNull())
    .addColumn('locked_machine', text)
    .addPrimaryKeyConstraint('node_maintenance_pk', ['site', 'node'])
    .execute();

  await db.schema
    .createTable('cluster_primary')
    .addColumn('cluster_id', integer, (column) => column.notNull().references('cluster.id').onDelete('cascade'))
    .addColumn('tag', text, (column) => column.notNull())
    .addColumn('node_id', integer, (column) => column.notNull().references('node.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('cluster_primary_pk', ['cluster_id', 'tag'])
    .execute();
  await db.schema.createIndex('cluster_primary_by_node').on('cluster_primary').column('node_id').execute();
}

/** Tags, and which nodes have them. */
export async function createTags(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, serial } = types;
  await db.schema
    .createTable('tag')
    .addColumn('id', serial)
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('release_id', integer, (column) => column.references('release.id').onDelete('cascade'))
    .addColumn('plugin_id', integer, (column) => column.references('plugin.id').onDelete('cascade'))
    .addColumn('cluster_id', integer, (column) => column.references('cluster.id').onDelete('cascade'))
    .addColumn('read_only', integer, (column) => column.notNull())
    .addColumn('has_primary', integer, (column) => column.notNull())
    .addColumn('metadata', text, (column) => column.notNull())
    .addUniqueConstraint('tag_of_release', ['release_id', 'name'])
    .addUniqueConstraint('tag_of_plugin', ['plugin_id', 'name'])
    .addUniqueConstraint('tag_of_cluster', ['cluster_id', 'name'])
    .execute();

  // By name, not by id: an instance (`mysql:1`) has no tag row.
  await db.schema
    .createTable('tag_node_assignment')
    .addColumn('cluster_id', integer, (column) => column.notNull().references('cluster.id').onDelete('cascade'))
    .addColumn('node_id', integer, (column) => column.notNull().references('node.id').onDelete('cascade'))
    .addColumn('tag', text, (column) => column.notNull())
    .addColumn('source', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('tag_node_assignment_pk', ['node_id', 'tag', 'source', 'role'])
    .execute();
  await db.schema
    .createIndex('tag_node_assignment_by_cluster')
    .on('tag_node_assignment')
    .columns(['cluster_id', 'tag'])
    .execute();
}

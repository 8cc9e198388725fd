import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

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

import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Graphs with their tasks, and sequences of graphs. */
export async function createGraphs(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, serial } = types;
  // The owner is part of the row: a graph has one, and is deleted with it.
  await db.schema
    .createTable('graph')
    .addColumn('id', serial)
    .addColumn('release_id', integer, (column) => column.references('release.id').onDelete('cascade'))
    .addColumn('plugin_id', integer, (column) => column.references('plugin.id').onDelete('cascade'))
    .addColumn('cluster_id', integer, (column) => column.references('cluster.id').onDelete('cascade'))
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('name', text)
    .addColumn('node_filter', text)
    .addColumn('on_success', text)
    .addColumn('on_error', text)
    .addColumn('on_stop', text)
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .addUniqueConstraint('graph_of_release', ['release_id', 'type'])
    .addUniqueConstraint('graph_of_plugin', ['plugin_id', 'type'])
    .addUniqueConstraint('graph_of_cluster', ['cluster_id', 'type'])
    .execute();

  await db.schema
    .createTable('graph_task')
    .addColumn('graph_id', integer, (column) => column.notNull().references('graph.id').onDelete('cascade'))
    .addColumn('position', integer, (column) => column.notNull())
    .addColumn('task_name', text, (column) => column.notNull())
    .addColumn('version', text)
    .addColumn('type', text)
    .addColumn('condition', text)
    .addColumn('groups', text)
    .addColumn('tasks', text)
    .addColumn('roles', text)
    .addColumn('reexecute_on', text)
    .addColumn('refresh_on', text)
    .addColumn('required_for', text)
    .addColumn('requires', text)
    .addColumn('cross_depended_by', text)
    .addColumn('cross_depends', text)
    .addColumn('parameters', text)
    .addColumn('custom', text)
    .addPrimaryKeyConstraint('graph_task_pk', ['graph_id', 'position'])
    .addUniqueConstraint('graph_task_name', ['graph_id', 'task_name'])
    .execute();

  await db.schema
    .createTable('graph_sequence')
    .addColumn('id', serial)
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('release_id', integer, (column) => column.notNull().references('release.id').onDelete('cascade'))
    .addColumn('graphs', text, (column) => column.notNull())
    .addUniqueConstraint('graph_sequence_name', ['release_id', 'name'])
    .execute();
}

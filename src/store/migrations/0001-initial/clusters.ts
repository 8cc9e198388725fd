import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Clusters, their plugins and claims. */
export async function createClusters(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, serial } = types;
  // No cascade: a release in use cannot be deleted.
  await db.schema
    .createTable('cluster')
    .addColumn('id', serial)
    .addColumn('name', text, (column) => column.notNull().unique())
    .addColumn('release_id', integer, (column) => column.notNull().references('release.id'))
    .addColumn('pending_release_id', integer, (column) => column.references('release.id'))
    .addColumn('mode', text, (column) => column.notNull())
    .addColumn('net_provider', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('site', text)
    .addColumn('is_locked', integer, (column) => column.notNull())
    .addColumn('components', text, (column) => column.notNull())
    .addColumn('ui_settings', text, (column) => column.notNull())
    .addColumn('attributes', text, (column) => column.notNull())
    .addColumn('deployment_info', text, (column) => column.notNull())
    .addColumn('network_config', text, (column) => column.notNull())
    .addColumn('any_choices', text, (column) => column.notNull())
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('cluster_by_release').on('cluster').column('release_id').execute();
  await db.schema.createIndex('cluster_by_pending_release').on('cluster').column('pending_release_id').execute();

  await db.schema
    .createTable('cluster_plugin')
    .addColumn('cluster_id', integer, (column) => column.notNull().references('cluster.id').onDelete('cascade'))
    .addColumn('plugin_id', integer, (column) => column.notNull().references('plugin.id').onDelete('cascade'))
    .addColumn('enabled', integer, (column) => column.notNull())
    .addColumn('attributes', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('cluster_plugin_pk', ['cluster_id', 'plugin_id'])
    .execute();
  await db.schema.createIndex('cluster_plugin_by_plugin').on('cluster_plugin').column('plugin_id').execute();

  await db.schema
    .createTable('settings_revision')
    .addColumn('cluster_id', integer, (column) => column.notNull().references('cluster.id').onDelete('cascade'))
    .addColumn('number', integer, (column) => column.notNull())
    .addColumn('at', text, (column) => column.notNull())
    .addColumn('by', text, (column) => column.notNull())
    .addColumn('editable', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('settings_revision_pk', ['cluster_id', 'number'])
    .execute();

  // No cascade: a cluster that is claimed cannot be deleted.
  await db.schema
    .createTable('cluster_claim')
    .addColumn('cluster_id', integer, (column) => column.primaryKey().references('cluster.id'))
    .addColumn('workflow_id', text, (column) => column.notNull())
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('execution_id', text, (column) => column.notNull())
    .addColumn('generation', integer, (column) => column.notNull())
    .addColumn('claimed_at', text, (column) => column.notNull())
    .execute();
}

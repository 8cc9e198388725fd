import type { Migration } from './migration.ts';

/** Sites, revisions, claims, runs, audit and node facts: the first schema. */
export const sitesAndRuns: Migration = {
  version: 1,
  name: 'sites-and-runs',
  breaking: false,
  async up(db, { text, integer, bytes }) {
    await db.schema
      .createTable('site')
      .addColumn('name', text, (column) => column.primaryKey())
      .addColumn('cluster', text)
      .addColumn('created_at', text, (column) => column.notNull())
      .addColumn('latest_revision', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('last_good_revision', integer)
      .execute();

    await db.schema
      .createTable('revision')
      .addColumn('site', text, (column) => column.notNull().references('site.name').onDelete('cascade'))
      .addColumn('number', integer, (column) => column.notNull())
      .addColumn('hash', text, (column) => column.notNull())
      .addColumn('forced', integer, (column) => column.notNull())
      .addColumn('diagnostics', text, (column) => column.notNull())
      .addColumn('author', text)
      .addColumn('message', text)
      .addColumn('created_at', text, (column) => column.notNull())
      .addColumn('file_count', integer, (column) => column.notNull())
      .addColumn('size', integer, (column) => column.notNull())
      .addColumn('files', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('revision_pk', ['site', 'number'])
      .execute();
    await db.schema.createIndex('revision_by_hash').on('revision').columns(['site', 'hash']).execute();

    await db.schema
      .createTable('revision_deployment')
      .addColumn('site', text, (column) => column.notNull())
      .addColumn('run_id', text, (column) => column.notNull())
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('at', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('revision_deployment_pk', ['site', 'run_id'])
      .addForeignKeyConstraint(
        'revision_deployment_revision',
        ['site', 'revision'],
        'revision',
        ['site', 'number'],
        (key) => key.onDelete('cascade'),
      )
      .execute();

    // No cascade: a site that is claimed cannot be deleted.
    await db.schema
      .createTable('site_claim')
      .addColumn('site', text, (column) => column.primaryKey().references('site.name'))
      .addColumn('workflow_id', text, (column) => column.notNull())
      .addColumn('run_id', text, (column) => column.notNull())
      .addColumn('claimed_at', text, (column) => column.notNull())
      .execute();

    // No reference to the site, because runs outlive it.
    await db.schema
      .createTable('run')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('sequence', integer, (column) => column.notNull())
      .addColumn('workflow_id', text, (column) => column.notNull())
      .addColumn('temporal_run_id', text)
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('site', text)
      .addColumn('revision', integer)
      .addColumn('title', text)
      .addColumn('labels', text)
      .addColumn('parameters', text)
      .addColumn('phase', text, (column) => column.notNull())
      .addColumn('outcome', text)
      .addColumn('started_by', text)
      .addColumn('reason', text)
      .addColumn('started_at', text, (column) => column.notNull())
      .addColumn('ended_at', text)
      .addColumn('failed_nodes', integer)
      .execute();
    await db.schema.createIndex('run_by_start').on('run').columns(['started_at', 'id']).execute();
    await db.schema.createIndex('run_by_site').on('run').columns(['site', 'started_at', 'id']).execute();
    await db.schema.createIndex('run_by_workflow').on('run').columns(['workflow_id', 'started_at', 'id']).execute();

    // In its own table: reports can be megabytes, which lists of runs should not read.
    await db.schema
      .createTable('run_report')
      .addColumn('run_id', text, (column) => column.primaryKey().references('run.id').onDelete('cascade'))
      .addColumn('sequence', integer, (column) => column.notNull())
      .addColumn('report', text, (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('run_node')
      .addColumn('run_id', text, (column) => column.notNull().references('run.id').onDelete('cascade'))
      .addColumn('node', text, (column) => column.notNull())
      .addColumn('sequence', integer, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('group', text)
      .addColumn('step', text)
      .addColumn('attempts', integer)
      .addColumn('started_at', text)
      .addColumn('ended_at', text)
      .addColumn('reason', text)
      .addColumn('system_id', text)
      .addColumn('late_result', text)
      .addPrimaryKeyConstraint('run_node_pk', ['run_id', 'node'])
      .execute();
    await db.schema.createIndex('run_node_by_node').on('run_node').columns(['node', 'run_id']).execute();

    await db.schema
      .createTable('audit_entry')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('at', text, (column) => column.notNull())
      .addColumn('actor', text, (column) => column.notNull())
      .addColumn('action', text, (column) => column.notNull())
      .addColumn('target', text, (column) => column.notNull())
      .addColumn('reason', text)
      .addColumn('details', text)
      .execute();
    await db.schema.createIndex('audit_entry_by_time').on('audit_entry').columns(['at', 'id']).execute();
    await db.schema.createIndex('audit_entry_by_target').on('audit_entry').columns(['target', 'at', 'id']).execute();

    await db.schema
      .createTable('node_fact')
      .addColumn('site', text, (column) => column.notNull().references('site.name').onDelete('cascade'))
      .addColumn('node', text, (column) => column.notNull())
      .addColumn('system_id', text)
      .addColumn('hostname', text)
      .addColumn('status', text)
      .addColumn('power', text)
      .addColumn('tags', text, (column) => column.notNull())
      .addColumn('zone', text)
      .addColumn('seen_at', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('node_fact_pk', ['site', 'node'])
      .execute();
  },
};

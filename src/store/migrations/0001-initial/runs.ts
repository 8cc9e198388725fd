import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Runs with their nodes and reports, deliveries of notices about them, and the audit trail. */
export async function createRuns(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await createReports(db, types);
  await createRecords(db, types);
}

async function createReports(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  // No reference to the site, because runs outlive it.
  await db.schema
    .createTable('run')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('number', integer, (column) => column.unique())
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
    .addColumn('paused', integer, (column) => column.notNull())
    .addColumn('held', integer, (column) => column.notNull())
    .addColumn('awaiting_approval', integer, (column) => column.notNull())
    .addColumn('outcome', text)
    .addColumn('started_by', text)
    .addColumn('reason', text)
    .addColumn('started_at', text, (column) => column.notNull())
    .addColumn('ended_at', text)
    .addColumn('failed_nodes', integer)
    .addColumn('failed_tasks', integer)
    .addColumn('done', integer)
    .addColumn('total', integer)
    .addColumn('failure', text)
    .addColumn('status', text)
    .addColumn('status_at', text)
    .addColumn('plan', text)
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
    .addColumn('position', integer)
    .addColumn('report', text, (column) => column.notNull())
    .addColumn('released', text)
    .addPrimaryKeyConstraint('run_node_pk', ['run_id', 'node'])
    .execute();
  await db.schema.createIndex('run_node_by_node').on('run_node').columns(['node', 'run_id']).execute();
}

async function createRecords(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('notice_delivery')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('notice', text, (column) => column.notNull())
    .addColumn('receiver', text, (column) => column.notNull())
    .addColumn('event', text, (column) => column.notNull())
    .addColumn('run', text)
    .addColumn('at', text, (column) => column.notNull())
    .addColumn('attempt', integer, (column) => column.notNull())
    .addColumn('delivered', integer, (column) => column.notNull())
    .addColumn('status', integer)
    .addColumn('message', text)
    .execute();
  await db.schema
    .createIndex('notice_delivery_of_receiver')
    .on('notice_delivery')
    .columns(['receiver', 'id'])
    .execute();

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
}

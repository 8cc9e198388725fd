import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Sites with their revisions and claims, and the records of their machines. */
export async function createSites(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await createRevisions(db, types);
  await createMachines(db, types);
}

async function createRevisions(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('site')
    .addColumn('name', text, (column) => column.primaryKey())
    .addColumn('cluster', text)
    .addColumn('source', text)
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('latest_revision', integer, (column) => column.notNull())
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
    .addColumn('commit_id', text)
    .addColumn('commit_url', text)
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('file_count', integer, (column) => column.notNull())
    .addColumn('size', integer, (column) => column.notNull())
    .addColumn('files', bytes, (column) => column.notNull())
    .addColumn('resolved', bytes)
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
    .addColumn('execution_id', text, (column) => column.notNull())
    .addColumn('generation', integer, (column) => column.notNull())
    .addColumn('claimed_at', text, (column) => column.notNull())
    .execute();
}

async function createMachines(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('deployed_machine')
    .addColumn('site', text, (column) => column.notNull().references('site.name').onDelete('cascade'))
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('system_id', text, (column) => column.notNull())
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('revision', integer, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('at', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('deployed_machine_pk', ['site', 'node'])
    .execute();

  await db.schema
    .createTable('given_tags')
    .addColumn('site', text, (column) => column.notNull().references('site.name').onDelete('cascade'))
    .addColumn('system_id', text, (column) => column.notNull())
    .addColumn('tags', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('given_tags_pk', ['site', 'system_id'])
    .execute();

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

  await db.schema
    .createTable('check_result')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('site', text, (column) => column.notNull().references('site.name').onDelete('cascade'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('verdict', text, (column) => column.notNull())
    .addColumn('text', text, (column) => column.notNull())
    .addColumn('output', text)
    .addColumn('at', text, (column) => column.notNull())
    .addColumn('ms', integer, (column) => column.notNull())
    .addColumn('newest', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('check_result_of_check')
    .on('check_result')
    .columns(['site', 'name', 'node', 'id'])
    .execute();
  await db.schema.createIndex('check_result_by_newest').on('check_result').columns(['newest', 'site']).execute();
  await db.schema.createIndex('check_result_by_run').on('check_result').columns(['run_id', 'id']).execute();

  await db.schema
    .createTable('permit')
    .addColumn('site', text, (column) => column.notNull().references('site.name').onDelete('cascade'))
    .addColumn('machine', text, (column) => column.notNull())
    .addColumn('run_id', text, (column) => column.notNull())
    .addColumn('work', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('counted', integer, (column) => column.notNull())
    .addColumn('since', text, (column) => column.notNull())
    .addColumn('asked_at', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('permit_pk', ['site', 'machine', 'run_id'])
    .execute();

  await db.schema
    .createTable('permit_turn')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('turn', integer, (column) => column.notNull())
    .execute();
}

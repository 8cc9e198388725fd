import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Graph runs, the outcome of each task, plans, and the states that the next run compares with. */
export async function createTransactions(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await createRecords(db, types);
  await createHistory(db, types);
  await createPlans(db, types);
}

async function createRecords(db: Kysely<unknown>, { text, integer, bytes, serial }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('content')
    .addColumn('hash', text, (column) => column.primaryKey())
    .addColumn('bytes', bytes, (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('deployment_transaction')
    .addColumn('id', serial)
    .addColumn('uuid', text, (column) => column.notNull().unique())
    .addColumn('cluster_id', integer, (column) => column.references('cluster.id').onDelete('cascade'))
    .addColumn('parent_id', integer, (column) => column.references('deployment_transaction.id').onDelete('cascade'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('message', text)
    .addColumn('result', text)
    .addColumn('graph_type', text)
    .addColumn('mode', text, (column) => column.notNull())
    .addColumn('force', integer, (column) => column.notNull())
    .addColumn('debug', integer, (column) => column.notNull())
    .addColumn('input', text)
    .addColumn('workflow_id', text)
    .addColumn('temporal_run_id', text)
    .addColumn('started_by', text)
    .addColumn('time_start', text)
    .addColumn('time_end', text)
    .addColumn('deleted_at', text)
    // No reference: a plan is stored before the transaction refers to it.
    .addColumn('plan_hash', text)
    .execute();
  const index = (name: string, columns: readonly string[]) =>
    db.schema
      .createIndex(name)
      .on('deployment_transaction')
      .columns([...columns])
      .execute();
  await index('deployment_transaction_by_cluster', ['cluster_id', 'id']);
  await index('deployment_transaction_by_parent', ['parent_id']);
  await index('deployment_transaction_by_workflow', ['workflow_id', 'id']);
  await index('deployment_transaction_by_plan', ['plan_hash']);
}

async function createHistory(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  const owner = 'deployment_transaction.id';
  await db.schema
    .createTable('transaction_snapshot')
    .addColumn('transaction_id', integer, (column) => column.notNull().references(owner).onDelete('cascade'))
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('content', text, (column) => column.notNull().references('content.hash'))
    .addPrimaryKeyConstraint('transaction_snapshot_pk', ['transaction_id', 'kind'])
    .execute();
  await db.schema.createIndex('transaction_snapshot_by_content').on('transaction_snapshot').column('content').execute();

  await db.schema
    .createTable('task_history')
    .addColumn('transaction_id', integer, (column) => column.notNull().references(owner).onDelete('cascade'))
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('sequence', integer, (column) => column.notNull())
    .addColumn('time_start', text)
    .addColumn('time_end', text)
    .addColumn('root_cause', text)
    .addColumn('message', text)
    .addColumn('summary', text)
    .addColumn('custom', text)
    .addPrimaryKeyConstraint('task_history_pk', ['transaction_id', 'node', 'task'])
    .execute();
  // Counted after each batch of tasks, and for each look at a run: from an index alone. The last one has each status in planned order, too.
  for (const [name, ...columns] of [
    ['task_history_by_node', 'node', 'status'],
    ['task_history_by_task', 'task', 'status'],
    ['task_history_by_status', 'status', 'position'],
  ] as const)
    await db.schema
      .createIndex(name)
      .on('task_history')
      .columns(['transaction_id', ...columns])
      .execute();
}

/** Plans, and the states that the next run compares with. */
async function createPlans(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('plan')
    .addColumn('hash', text, (column) => column.primaryKey())
    .addColumn('reference', text, (column) => column.notNull())
    .addColumn('explanation', bytes, (column) => column.notNull())
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('used_at', text, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('plan_chunk')
    .addColumn('plan', text, (column) => column.notNull().references('plan.hash').onDelete('cascade'))
    .addColumn('part', integer, (column) => column.notNull())
    .addColumn('chunk', integer, (column) => column.notNull())
    .addColumn('text', bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint('plan_chunk_pk', ['plan', 'part', 'chunk'])
    .execute();
  await db.schema
    .createTable('plan_order_block')
    .addColumn('plan', text, (column) => column.notNull().references('plan.hash').onDelete('cascade'))
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('first_task', text, (column) => column.notNull())
    .addColumn('orders', bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint('plan_order_block_pk', ['plan', 'node', 'first_task'])
    .execute();

  await db.schema
    .createTable('task_state')
    .addColumn('cluster_id', integer, (column) => column.notNull().references('cluster.id').onDelete('cascade'))
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('content', text, (column) => column.notNull().references('content.hash'))
    .addColumn('at', text, (column) => column.notNull())
    .addColumn('digest', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('task_state_pk', ['cluster_id', 'node', 'task'])
    .execute();
  await db.schema.createIndex('task_state_by_content').on('task_state').column('content').execute();
}

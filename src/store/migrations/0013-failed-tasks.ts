import type { Migration } from './migration.ts';

/** Lists show how many tasks of a run of graphs failed. */
export const failedTasks: Migration = {
  version: 13,
  name: 'failed-tasks',
  breaking: false,
  async up(db, { integer }) {
    await db.schema.alterTable('run').addColumn('failed_tasks', integer).execute();
  },
};

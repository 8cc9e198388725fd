import type { Migration } from './migration.ts';

/** What MAAS said of each machine when it was deployed, to show what has changed since. */
export const deployedMachines: Migration = {
  version: 14,
  name: 'deployed-machines',
  breaking: false,
  async up(db, { integer, text }) {
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
  },
};

import type { Migration } from './migration.ts';

/** How far an ended run came, and why it failed: for lists, which do not read reports. */
export const runResults: Migration = {
  version: 9,
  name: 'run-results',
  breaking: false,
  async up(db, { integer, text }) {
    for (const [column, type] of [
      ['done', integer],
      ['total', integer],
      ['failure', text],
    ] as const)
      await db.schema.alterTable('run').addColumn(column, type).execute();
  },
};

import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Tasks that a stop left undone were stored as skipped, with a mark in their summary. */
export const neverReached: Migration = {
  version: 10,
  name: 'never-reached',
  breaking: false,
  async up(db) {
    await sql`update task_history set status = 'not_reached'
      where status = 'skipped' and summary like '%"undone":true%'`.execute(db);
  },
};

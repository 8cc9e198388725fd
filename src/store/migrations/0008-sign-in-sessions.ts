import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Sessions of users who signed in, beside tokens: several of them may have one name. */
export const signInSessions: Migration = {
  version: 8,
  name: 'sign-in-sessions',
  breaking: false,
  async up(db, { text }) {
    await db.schema
      .alterTable('api_token')
      .addColumn('kind', text, (column) => column.notNull().defaultTo('token'))
      .execute();
    await db.schema.dropIndex('api_token_in_use').execute();
    await db.schema
      .createIndex('api_token_in_use')
      .unique()
      .on('api_token')
      .column('name')
      .where(sql<boolean>`revoked_at is null and kind = 'token'`)
      .execute();
  },
};

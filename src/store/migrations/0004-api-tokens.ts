import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Tokens of the API. */
export const apiTokens: Migration = {
  version: 4,
  name: 'api-tokens',
  breaking: false,
  async up(db, { text }) {
    await db.schema
      .createTable('api_token')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('role', text, (column) => column.notNull())
      .addColumn('hash', text, (column) => column.notNull())
      .addColumn('created_at', text, (column) => column.notNull())
      .addColumn('created_by', text, (column) => column.notNull())
      .addColumn('expires_at', text)
      .addColumn('revoked_at', text)
      .addColumn('revoked_by', text)
      .addColumn('last_used_at', text)
      .execute();
    // A name belongs to one token at a time; it is free again once that token is revoked.
    await db.schema
      .createIndex('api_token_in_use')
      .unique()
      .on('api_token')
      .column('name')
      .where(sql.ref('revoked_at'), 'is', null)
      .execute();
  },
};

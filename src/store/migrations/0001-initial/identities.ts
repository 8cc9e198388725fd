import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Tokens and certificates of nodes with the orders signed for them, and tokens of the API. */
export async function createIdentities(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  // No reference to the site: an identity outlives it.
  await db.schema
    .createTable('enrolment_token')
    .addColumn('hash', text, (column) => column.primaryKey())
    .addColumn('site', text, (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('expires_at', text, (column) => column.notNull())
    .addColumn('used_at', text)
    .addColumn('used_by_key', text)
    .addColumn('certificate', text)
    .addColumn('revoked_at', text)
    .execute();
  await db.schema.createIndex('enrolment_token_by_node').on('enrolment_token').columns(['site', 'node']).execute();

  await db.schema
    .createTable('node_identity')
    .addColumn('site', text, (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('changes', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('node_identity_pk', ['site', 'node'])
    .execute();

  await db.schema
    .createTable('node_certificate')
    .addColumn('fingerprint', text, (column) => column.primaryKey())
    .addColumn('site', text, (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('issued_at', text, (column) => column.notNull())
    .addColumn('expires_at', text, (column) => column.notNull())
    .addColumn('revoked_at', text)
    .addColumn('reason', text)
    .execute();
  await db.schema
    .createIndex('node_certificate_by_node')
    .on('node_certificate')
    .columns(['site', 'node', 'issued_at'])
    .execute();

  await db.schema
    .createTable('signed_order')
    .addColumn('run', text, (column) => column.notNull())
    .addColumn('node', text, (column) => column.notNull())
    .addColumn('task', text, (column) => column.notNull())
    .addColumn('generation', integer, (column) => column.notNull())
    .addColumn('execution_hash', text, (column) => column.notNull())
    .addColumn('signed_at', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('signed_order_pk', ['run', 'node', 'task', 'generation'])
    .execute();

  await db.schema
    .createTable('api_token')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('hash', text, (column) => column.notNull())
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('created_by', text, (column) => column.notNull())
    .addColumn('expires_at', text)
    .addColumn('revoked_at', text)
    .addColumn('revoked_by', text)
    .addColumn('last_used_at', text)
    .execute();
  // A name belongs to one token at a time, and is free again once that token is revoked. Several sessions may have one.
  await db.schema
    .createIndex('api_token_in_use')
    .unique()
    .on('api_token')
    .column('name')
    .where(sql<boolean>`revoked_at is null and kind = 'token'`)
    .execute();
}

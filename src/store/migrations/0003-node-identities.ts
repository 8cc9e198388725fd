import type { Migration } from './migration.ts';

/** Tokens and certificates of nodes, and what was signed for them. */
export const nodeIdentities: Migration = {
  version: 3,
  name: 'node-identities',
  breaking: false,
  async up(db, { text, integer }) {
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
      .execute();
    await db.schema.createIndex('enrolment_token_by_node').on('enrolment_token').columns(['site', 'node']).execute();

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
  },
};

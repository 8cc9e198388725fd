import type { Migration } from './migration.ts';

/** One row of each node, which every change of its identity writes first; and what became of its tokens. */
export const nodeIdentityChanges: Migration = {
  version: 15,
  name: 'node-identity-changes',
  breaking: false,
  async up(db, { text, integer }) {
    await db.schema
      .createTable('node_identity')
      .addColumn('site', text, (column) => column.notNull())
      .addColumn('node', text, (column) => column.notNull())
      .addColumn('changes', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('node_identity_pk', ['site', 'node'])
      .execute();
    await db.schema.alterTable('enrolment_token').addColumn('certificate', text).execute();
    await db.schema.alterTable('enrolment_token').addColumn('revoked_at', text).execute();
  },
};

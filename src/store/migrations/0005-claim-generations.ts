import type { Migration } from './migration.ts';

/** Which execution of its run has a claim, and how often the claim was taken over. */
export const claimGenerations: Migration = {
  version: 5,
  name: 'claim-generations',
  breaking: false,
  async up(db, { integer, text }) {
    for (const table of ['site_claim', 'cluster_claim']) {
      // Null: the first execution, whose id is the run's.
      await db.schema.alterTable(table).addColumn('execution_id', text).execute();
      await db.schema
        .alterTable(table)
        .addColumn('generation', integer, (column) => column.notNull().defaultTo(1))
        .execute();
    }
  },
};

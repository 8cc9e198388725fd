import type { Migration } from './migration.ts';

/** Sites that follow a branch of a Git repository, and the commits of their revisions. */
export const gitSources: Migration = {
  version: 11,
  name: 'git-sources',
  breaking: false,
  async up(db, { text }) {
    await db.schema.alterTable('site').addColumn('source', text).execute();
    await db.schema.alterTable('revision').addColumn('commit_id', text).execute();
    await db.schema.alterTable('revision').addColumn('commit_url', text).execute();
  },
};

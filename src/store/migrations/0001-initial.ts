import { createClusters } from './0001-initial/clusters.ts';
import { createGraphs } from './0001-initial/graphs.ts';
import { createIdentities } from './0001-initial/identities.ts';
import { createNodes, createTags } from './0001-initial/nodes.ts';
import { createReleases } from './0001-initial/releases.ts';
import { createRuns } from './0001-initial/runs.ts';
import { createSites } from './0001-initial/sites.ts';
import { createTransactions } from './0001-initial/transactions.ts';
import type { Migration } from './migration.ts';

/** The schema of the first release. */
export const initial: Migration = {
  version: 1,
  name: 'initial',
  breaking: false,
  async up(db, columnTypes) {
    await createSites(db, columnTypes);
    await createRuns(db, columnTypes);
    await createReleases(db, columnTypes);
    await createClusters(db, columnTypes);
    await createNodes(db, columnTypes);
    await createTags(db, columnTypes);
    await createGraphs(db, columnTypes);
    await createTransactions(db, columnTypes);
    await createIdentities(db, columnTypes);
  },
};

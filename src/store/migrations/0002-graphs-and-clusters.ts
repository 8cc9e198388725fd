import { createClusters } from './0002-graphs-and-clusters/clusters.ts';
import { createGraphs } from './0002-graphs-and-clusters/graphs.ts';
import { createNodes } from './0002-graphs-and-clusters/nodes.ts';
import { createReleases } from './0002-graphs-and-clusters/releases.ts';
import { createTags } from './0002-graphs-and-clusters/tags.ts';
import { createTransactions } from './0002-graphs-and-clusters/transactions.ts';
import type { Migration } from './migration.ts';

/** Packages, releases, plugins, clusters, nodes, tags; graphs, their runs, plans and states. */
export const graphsAndClusters: Migration = {
  version: 2,
  name: 'graphs-and-clusters',
  breaking: false,
  async up(db, columnTypes) {
    await createReleases(db, columnTypes);
    await createClusters(db, columnTypes);
    await createNodes(db, columnTypes);
    await createTags(db, columnTypes);
    await createGraphs(db, columnTypes);
    await createTransactions(db, columnTypes);
  },
};

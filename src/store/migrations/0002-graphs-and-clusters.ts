import { createClusters } from './0002-graphs-and-clusters/clusters.js';
import { createGraphs } from './0002-graphs-and-clusters/graphs.js';
import { createNodes } from './0002-graphs-and-clusters/nodes.js';
import { createReleases } from './0002-graphs-and-clusters/releases.js';
import { createTags } from './0002-graphs-and-clusters/tags.js';
import { createTransactions } from './0002-graphs-and-clusters/transactions.js';
import type { Migration } from './migration.js';

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

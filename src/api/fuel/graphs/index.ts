import type { RouteGroup } from '../../serve.js';
import { serveExecutions } from './execution-routes.js';
import { serveGraphs } from './graph-routes.js';
import { serveOpenstackConfigs } from './openstack-config-routes.js';
import { serveGraphTasks } from './plan-routes.js';
import { readYamlGraphs, refuseEmptyBodies } from './read-graph-bodies.js';
import { serveSequences } from './sequence-routes.js';
import { serveTransactions } from './transaction-routes.js';

/** Graphs as Fuel's API has them: kept, planned, run, and what became of them. */
export const serveFuelGraphs: RouteGroup = async (app, { operations, version }) => {
  // Without the prefix, which the outer registration has added already.
  const options = { operations, version };
  await app.register(async (uploads) => {
    readYamlGraphs(uploads);
    refuseEmptyBodies(uploads);
    await uploads.register(serveGraphs, options);
    await uploads.register(serveGraphTasks, options);
  });
  await app.register(serveExecutions, options);
  await app.register(serveSequences, options);
  await app.register(serveOpenstackConfigs, options);
  await app.register(serveTransactions, options);
};

import type { RouteGroup } from '../../serve.ts';
import { serveExecutions } from './execution-routes.ts';
import { serveGraphs } from './graph-routes.ts';
import { serveGraphTasks } from './plan-routes.ts';
import { readYamlGraphs, refuseEmptyBodies } from './read-graph-bodies.ts';
import { serveSequences } from './sequence-routes.ts';
import { serveTransactions } from './transaction-routes.ts';

/** Graphs as in Fuel's API: stored, planned and run, with their results. */
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
  await app.register(serveTransactions, options);
};

import type { RouteGroup } from '../../routes/route-group.js';
import { executionRoutes } from './execution-routes.js';
import { graphRoutes } from './graph-routes.js';
import { ownerGraphRoutes } from './owner-graph-routes.js';
import { planRoutes } from './plan-routes.js';
import { readYamlGraphs, refuseEmptyBodies } from './read-graph-bodies.js';
import { sequenceRoutes } from './sequence-routes.js';
import { transactionRoutes } from './transaction-routes.js';

/** Graphs as Fuel's API has them: kept, planned, run, and what became of them. */
export const fuelGraphRoutes: RouteGroup = async (app, { operations, version }) => {
  // Without the prefix, which the outer registration has added already.
  const options = { operations, version };
  await app.register(async (uploads) => {
    readYamlGraphs(uploads);
    refuseEmptyBodies(uploads);
    await uploads.register(graphRoutes, options);
    await uploads.register(ownerGraphRoutes, options);
  });
  await app.register(planRoutes, options);
  await app.register(executionRoutes, options);
  await app.register(sequenceRoutes, options);
  await app.register(transactionRoutes, options);
};

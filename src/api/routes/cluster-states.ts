import { z } from 'zod';
import { idParams, idText } from '../fuel/request-parts.js';
import { given, problems, type RouteGroup } from './route-group.js';

const stateSchema = z
  .strictObject({
    common: z.record(z.string(), z.unknown()).describe('What all nodes see.'),
    node: z.record(z.string(), z.unknown()).nullable().describe('What the node that was asked for sees on top.'),
  })
  .meta({ id: 'State' });

const statesSchema = z
  .strictObject({
    now: stateSchema,
    before: stateSchema.nullable().describe('With which a task last ended well; null before any did.'),
  })
  .meta({ id: 'ClusterStates' });

/** Data of expressions, to try them out. */
export const clusterStateRoutes: RouteGroup = async (app, { operations: { states } }) => {
  app.get('/clusters/:id/states', {
    schema: {
      operationId: 'getClusterStates',
      summary: 'The data that expressions of tasks see: now, and when a task last ended well',
      tags: ['graphs'],
      params: idParams('cluster'),
      querystring: z.strictObject({ node: idText('node').optional() }),
      response: { 200: statesSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params, query }) => states.states(params.id, given(query).node) as never,
  });
};

import { z } from 'zod';
import { idParams } from './fuel/parts.ts';
import { siteParams, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const attempts = {
  ended: z.int().describe('How often they came to their end.'),
  first_attempts: z.int().describe('How often they succeeded with their first attempt.'),
};

/** How one thing did: in all, and run by run. */
const trend = {
  ...attempts,
  seconds: z.number().nullable().describe('The median of its runs.'),
  past: z
    .array(
      z.strictObject({
        run: z.string(),
        at: timestamp.describe('Start of the run.'),
        seconds: z.number().nullable().describe('Of a task: the median of its nodes.'),
        outcome: z.enum(['success', 'failed']).describe('Of a task `failed`: on at least one node.'),
      }),
    )
    .describe('Newest first.'),
};

const inAll = {
  runs: z.int().describe('How many runs tell: at most the 20 newest that have ended.'),
  ...attempts,
};

const taskTrendsSchema = z
  .strictObject({
    ...inAll,
    tasks: z
      .array(z.strictObject({ task: z.string(), ...trend }))
      .describe('The slowest first, at most 100; of up to 60 nodes of each run.'),
  })
  .meta({ id: 'TaskTrends', description: 'How the tasks of a cluster did in its last runs.' });

const nodeTrendsSchema = z
  .strictObject({
    ...inAll,
    nodes: z
      .array(z.strictObject({ node: z.string(), ...trend }))
      .describe('Those that most often needed more than one attempt first, then the slowest; at most 100.'),
  })
  .meta({ id: 'NodeTrends', description: 'How the nodes of a site did in its last runs.' });

export type TaskTrends = Wire<typeof taskTrendsSchema>;
export type NodeTrends = Wire<typeof nodeTrendsSchema>;

export const trendRoutes = tagged('runs', {
  'GET /clusters/:id/task-trends': {
    id: 'getTaskTrends',
    access: 'viewer',
    summary: 'Show how long the tasks of a cluster took in its last runs, and how often they succeeded at once',
    params: idParams('cluster'),
    query: z.strictObject({ task: z.string().max(1000).optional().describe('Only this task.') }),
    answers: { 200: taskTrendsSchema },
  },
  'GET /sites/:site/node-trends': {
    id: 'getNodeTrends',
    access: 'viewer',
    summary: 'Show how long the nodes of a site took in its last runs, and how often they succeeded at once',
    params: siteParams,
    answers: { 200: nodeTrendsSchema },
  },
});

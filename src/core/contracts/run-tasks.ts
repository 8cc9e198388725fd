import { z } from 'zod';
import { TASK_STATUSES } from '../words.js';
import { drawQuery, graphType } from './fuel/graphs.js';
import { commaList, idParams } from './fuel/parts.js';
import { pageOf, pageQuery, runParams, timestamp } from './primitives.js';
import { media, tagged } from './route.js';
import type { Wire } from './wire.js';

const counts = z.record(z.string(), z.int()).describe('Tasks by status.');
const countsBy = (what: string) => z.record(z.string(), counts).describe(`The same by ${what}.`);

export const runCountsSchema = z
  .strictObject({
    graphs: z.array(
      z.strictObject({
        transaction: z.int(),
        type: z.string(),
        status: z.string(),
        message: z.string().nullable(),
        planned: z.boolean(),
        nodes: countsBy('node'),
        tasks: countsBy('task'),
      }),
    ),
    node_names: z.record(z.string(), z.string()).describe('Names of nodes by their ids.'),
  })
  .meta({ id: 'RunCounts', description: 'How many tasks of a run of graphs stand how.' });

export const runTasksQuery = pageQuery.extend({
  graph: graphType.optional(),
  nodes: commaList('Only these nodes'),
  statuses: z
    .string()
    .max(1000)
    .regex(new RegExp(`^(${TASK_STATUSES.join('|')})(,(${TASK_STATUSES.join('|')}))*$`), {
      error: `must be of ${TASK_STATUSES.join(', ')}, with commas between`,
    })
    .optional()
    .describe(`Only these of ${TASK_STATUSES.join(', ')}, with commas between.`),
  name: z.string().max(1000).optional().describe('Only tasks whose names hold this.'),
});

export const runTaskSchema = z
  .strictObject({
    graph: z.string(),
    transaction: z.int(),
    task: z.string(),
    node: z.string().describe('Id of the node; `master`, or `null` for what is on none.'),
    status: z.enum(TASK_STATUSES),
    attempts: z.int(),
    time_start: timestamp.nullable(),
    time_end: timestamp.nullable(),
    root_cause: z.string().nullable().describe('`task@node` or `offline:NODE`: what it was lost with.'),
    message: z.string().nullable(),
  })
  .meta({ id: 'RunTask', description: 'How a task of a run of graphs stands on a node.' });

export const runTaskPageSchema = pageOf(runTaskSchema).meta({ id: 'RunTaskPage' });

export const pictureQuery = z.strictObject({ graph: graphType.optional().describe('Type; not given: the first.') });

export type RunTaskAnswer = Wire<typeof runTaskSchema>;

const events = {
  200: media(
    'text/event-stream',
    'Server-sent events. `all`: tables of named entries, as they stand; `changes`: entries that changed, null where gone; `problem`: why there is no news; `end`: nothing will change any more, and the stream ends.',
  ),
};
const svg = { 200: media('image/svg+xml', 'The drawing. Tasks are `g.node`, named by their `title`.') };
const read = { access: 'viewer', params: runParams } as const;

/** What pages that watch a run ask: counts, tasks in pages, pictures, and events. */
export const watchRoutes = tagged('runs', {
  'GET /runs/:run/events': {
    ...read,
    id: 'watchRun',
    summary: 'Watch a run: events with what changes, until it ends',
    answers: events,
  },
  'GET /events': {
    id: 'watchLists',
    access: 'viewer',
    summary: 'Watch the lists of runs, sites and clusters: events with what changes',
    answers: events,
    tag: 'service',
  },
  'GET /runs/:run/counts': {
    ...read,
    id: 'countRunTasks',
    summary: 'Count the tasks of a run of graphs by status, by node and by task',
    answers: { 200: runCountsSchema },
  },
  'GET /runs/:run/tasks': {
    ...read,
    id: 'listRunTasks',
    summary: 'List the tasks of a run of graphs, failed ones first',
    query: runTasksQuery,
    answers: { 200: runTaskPageSchema },
  },
  'GET /runs/:run/graph.svg': {
    ...read,
    id: 'drawRunGraph',
    summary: 'Draw a graph of a run as it was planned, as SVG',
    query: pictureQuery,
    answers: svg,
  },
  'GET /clusters/:id/deploy_tasks/graph.svg': {
    id: 'drawGraphSvg',
    access: 'viewer',
    summary: "Draw a cluster's graph as SVG",
    params: idParams('cluster'),
    query: drawQuery,
    answers: svg,
    also: [409],
    tag: 'graphs',
  },
  'GET /graphs/:id/graph.svg': {
    id: 'drawOneGraph',
    access: 'viewer',
    summary: 'Draw one graph, without the layers below it, as SVG',
    params: idParams('graph'),
    answers: svg,
    tag: 'graphs',
  },
});

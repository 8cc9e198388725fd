import { z } from 'zod';
import { TASK_STATUSES, TRANSACTION_STATUSES } from '../words.ts';
import { drawQuery, graphType } from './fuel/graphs.ts';
import { idList, idParams } from './fuel/parts.ts';
import { someTaskCounts, taskCounts, taskStatusList } from './graph-run.ts';
import { pageOf, pageQuery, rootCause, runParams, timestamp } from './primitives.ts';
import { media, tagged } from './route.ts';
import { anyStatusSchema, runSchema } from './runs.ts';
import { groupReportSchema, nodeReportSchema, runReportSchema } from './site-run-report.ts';
import { siteSchema } from './sites.ts';
import type { Wire } from './wire.ts';

const countsBy = (what: string) => z.record(z.string(), someTaskCounts).describe(`The same by ${what}.`);

const nodeNames = z.record(z.string(), z.string()).describe('Names of nodes by their ids.');

const runCountsSchema = z
  .strictObject({
    graphs: z.array(
      z.strictObject({
        transaction: z.int(),
        type: z.string(),
        state: z.enum(TRANSACTION_STATUSES),
        message: z.string().nullable(),
        planned: z.boolean(),
        counts: taskCounts,
        done: z.int().describe('Tasks that have ended.'),
        total: z.int().describe('Tasks with work.'),
        nodes: countsBy('node'),
        tasks: countsBy('task'),
      }),
    ),
    node_names: nodeNames,
  })
  .meta({ id: 'RunCounts', description: 'Tasks of a graph run, counted by status.' });

const runTasksQuery = pageQuery.extend({
  graph: graphType.optional(),
  nodes: idList('node', 'Only these nodes, by id; `master` is no name of a node'),
  statuses: taskStatusList,
  name: z.string().max(1000).optional().describe('Only tasks whose names contain this text.'),
});

const runTaskSchema = z
  .strictObject({
    graph: z.string(),
    transaction: z.int(),
    task: z.string(),
    node: z.string().describe('Id of the node; `master`, or `null` for a task without a node.'),
    status: z.enum(TASK_STATUSES),
    attempts: z.int(),
    time_start: timestamp.nullable(),
    time_end: timestamp.nullable(),
    root_cause: rootCause.nullable().describe('The failure that blocked it; null if none did.'),
    message: z.string().nullable(),
  })
  .meta({ id: 'RunTask', description: 'Status of a task of a graph run on a node.' });

export const runTaskPageSchema = pageOf(runTaskSchema).meta({ id: 'RunTaskPage' });

const runGraphSchema = z
  .strictObject({
    tasks: z.array(z.strictObject({ name: z.string(), type: z.string(), tags: z.array(z.string()) })),
    edges: z
      .array(z.tuple([z.string(), z.string(), z.boolean()]))
      .describe('The first task precedes the second; true: across nodes.'),
  })
  .meta({ id: 'RunGraph', description: 'Tasks of a graph with their order, as the run planned them.' });

const grouping = z.enum(['none', 'stage', 'tag']);

const area = { x: z.number(), y: z.number(), width: z.number(), height: z.number() };

const runGraphMapSchema = z
  .strictObject({
    by: grouping.describe('How tasks are grouped.'),
    groupings: z.array(grouping).describe('The groupings to choose from.'),
    boxes: z.array(
      z.strictObject({
        name: z.string(),
        is_group: z.boolean().describe('A closed group; otherwise a task.'),
        tasks: z.array(z.string()),
        ...area,
      }),
    ),
    frames: z.array(z.strictObject({ name: z.string(), ...area })).describe('Around the tasks of open groups.'),
    edges: z.array(
      z.strictObject({
        points: z
          .array(z.tuple([z.number(), z.number()]))
          .describe('A start, and three points of a cubic Bézier curve for each step.'),
        cross: z.boolean().describe('Across nodes.'),
      }),
    ),
    width: z.number(),
    height: z.number(),
  })
  .meta({ id: 'RunGraphMap', description: 'A graph of a run in groups, laid out; in pixels, from the upper left.' });

const pictureQuery = z.strictObject({ graph: graphType.optional().describe('Graph type. Default: the first graph.') });

const mapQuery = pictureQuery.extend({
  by: grouping.optional().describe('Default: none for few tasks, else by stage where there are stages.'),
  open: z
    .union([z.string().max(1000), z.array(z.string().max(1000)).max(10_000)])
    .optional()
    .describe('A group whose tasks are shown; may be repeated; `*`: all.'),
});

const events = {
  200: media(
    'text/event-stream',
    'Server-sent events. `all`: all tables of named entries; `changes`: changed entries, null for removed ones; `problem`: why there are no updates; `end`: nothing will change any more, and the stream ends.',
  ),
};

/** Events about tables that change. A table is a record of entries, or one object whose fields are its entries. */
const watchEvents = <const Frame extends z.ZodObject>(frame: Frame) =>
  z.discriminatedUnion('event', [
    z.strictObject({ event: z.literal('all'), data: frame }),
    z.strictObject({
      event: z.literal('changes'),
      data: z.partialRecord(z.enum(Object.keys(frame.shape)), z.record(z.string(), z.unknown())),
    }),
    z.strictObject({
      event: z.literal('problem'),
      data: z.strictObject({ code: z.string(), message: z.string(), hint: z.string().optional() }),
    }),
    z.strictObject({ event: z.literal('end'), data: z.strictObject({}) }),
  ]);

/** What a page asks for that shows several runs, in one or in many tabs. */
const listsQuery = z.strictObject({
  run: z
    .union([runParams.shape.run, z.array(runParams.shape.run).max(50)])
    .optional()
    .describe('A run to watch, too; may be repeated. Its events come as `run`: `{run, of: {event, data}}`.'),
});

/** Counts of one node, or of one task, in one graph of a run. */
const countedSchema = z.strictObject({ transaction: z.int(), name: z.string(), counts: someTaskCounts });

/** A run as its page shows it. */
const runFrameSchema = z.strictObject({
  run: runSchema,
  status: anyStatusSchema,
  report: runReportSchema.omit({ baremetal: true, released: true }).optional(),
  site_groups: z
    .record(z.string(), groupReportSchema.extend({ needed: z.int().nullable().optional() }))
    .optional()
    .describe('By their place in the documents. `needed`: how many of its nodes must succeed; null: more than it has.'),
  nodes: z.record(z.string(), nodeReportSchema).optional(),
  graphs: z.record(z.string(), runCountsSchema.shape.graphs.element.omit({ nodes: true, tasks: true })).optional(),
  node_tasks: z.record(z.string(), countedSchema).optional(),
  tasks: z.record(z.string(), countedSchema).optional(),
  node_names: nodeNames.optional(),
});

/** The newest runs, all sites, clusters in short. */
const listsFrameSchema = z.strictObject({
  runs: z.record(z.string(), runSchema),
  sites: z.record(z.string(), siteSchema),
  clusters: z.record(
    z.string(),
    z.strictObject({
      status: z.string(),
      busy: z.boolean(),
      nodes: z.string().describe('Changes whenever a node changes.'),
    }),
  ),
});

export type RunFrame = Wire<typeof runFrameSchema>;
export type ListsFrame = Wire<typeof listsFrameSchema>;
const svg = {
  200: {
    description:
      'The drawing. Tasks are `g.node`, named by their `title`, with the class `task`, `group`, `stage` or `skipped`. With `Accept: text/plain` it is sent as text.',
    // Generators of clients know text, and skip an answer that can only be a picture.
    content: { 'image/svg+xml': { schema: z.string() }, 'text/plain': { schema: z.string() } },
  },
};
const read = { access: 'viewer', params: runParams } as const;

/** Requests of pages that watch a run: counts, tasks in pages, pictures, and events. */
export const watchRoutes = tagged('runs', {
  'GET /runs/:run/events': {
    ...read,
    id: 'watchRun',
    summary: 'Watch a run: an event for each change, until it ends',
    answers: events,
    events: watchEvents(runFrameSchema),
  },
  'GET /events': {
    id: 'watchLists',
    access: 'viewer',
    summary: 'Watch the lists of runs, sites and clusters, and the given runs: an event for each change',
    query: listsQuery,
    answers: events,
    events: z.union([
      watchEvents(listsFrameSchema),
      z.strictObject({
        event: z.literal('run'),
        data: z.strictObject({ run: z.string(), of: watchEvents(runFrameSchema) }),
      }),
    ]),
    tag: 'service',
  },
  'GET /runs/:run/counts': {
    ...read,
    id: 'countRunTasks',
    summary: 'Count the tasks of a graph run by status, by node and by task',
    answers: { 200: runCountsSchema },
  },
  'GET /runs/:run/tasks': {
    ...read,
    id: 'listRunTasks',
    summary: 'List the tasks of a graph run, failed ones first',
    query: runTasksQuery,
    answers: { 200: runTaskPageSchema },
  },
  'GET /runs/:run/graph': {
    ...read,
    id: 'getRunGraph',
    summary: "Show the tasks of a run's graph in their planned order",
    query: pictureQuery,
    answers: { 200: runGraphSchema },
  },
  'GET /runs/:run/graph/map': {
    ...read,
    id: 'mapRunGraph',
    budget: 'drawing',
    summary: "Lay a run's graph out, in groups that can be opened",
    query: mapQuery,
    answers: { 200: runGraphMapSchema },
  },
  'GET /runs/:run/graph.svg': {
    ...read,
    id: 'drawRunGraph',
    budget: 'drawing',
    summary: "Draw a run's graph as planned, as SVG",
    query: pictureQuery,
    answers: svg,
  },
  'GET /clusters/:id/deploy_tasks/graph.svg': {
    id: 'drawGraphSvg',
    budget: 'drawing',
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
    budget: 'drawing',
    access: 'viewer',
    summary: 'Draw one graph, without the layers below it, as SVG',
    params: idParams('graph'),
    answers: svg,
    tag: 'graphs',
  },
});

import { z } from 'zod';
import { OWNER_KINDS } from '../../words.ts';
import { diagnosticSchema } from '../problem.ts';
import { gone, LARGE_BODY, media, tagged } from '../route.ts';
import { commaList, flagText, idList, idParams, idText } from './parts.ts';
import { planExplanationSchema } from './plan-explanation.ts';

/** Types of graphs are parts of paths. */
export const graphType = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[A-Za-z0-9_-]+$/, 'must have letters, digits, - and _ only')
  .describe('Type of the graph, e.g. `default`.');

/** Which graph of an owner a query is about. */
const typeQuery = z.strictObject({ graph_type: graphType.optional().describe('Default: `default`.') });

const graphParams = idParams('graph');

const ownerGraphParams = (owner: string) => z.strictObject({ id: idText(owner), type: graphType });

const graphsQuery = z.strictObject({
  clusters_ids: idList('cluster', 'Only graphs of these clusters'),
  plugins_ids: idList('plugin', 'Only graphs of these plugins'),
  releases_ids: idList('release', 'Only graphs of these releases'),
  graph_types: commaList('Only these types'),
  fetch_related: flagText.optional().describe("Include the graphs of each cluster's release and plugins."),
});

/** `fetch_related` is taken, and means nothing here: only the owner's own graphs are listed. */
const ownerGraphsQuery = graphsQuery.pick({ fetch_related: true });

const outcome = z
  .looseObject({})
  .nullable()
  .optional()
  .describe('`{node_attributes: {status, pending_addition, pending_deletion, error_msg, error_type}}`.');

/** A task has fields of its own making; docs/reference/graphs.md describes each. */
export const taskSchema = z
  .looseObject({ id: z.string(), type: z.unknown() })
  .meta({ id: 'GraphTask', description: 'One unit of work. Fields with two spellings are returned in both.' });

const taskListSchema = z.array(taskSchema).meta({ id: 'GraphTaskList' });

export const graphSchema = z
  .strictObject({
    id: z.int(),
    name: z.string().nullable(),
    node_filter: z
      .string()
      .optional()
      .describe('YAQL predicate that selects the nodes for a graph of this type. Default: the nodes ready for it.'),
    on_success: outcome,
    on_error: outcome,
    on_stop: outcome,
    tasks: z.array(taskSchema),
    relations: z
      .array(z.strictObject({ model: z.enum(OWNER_KINDS), model_id: z.int(), type: z.string() }))
      .describe('Its owners; empty for a graph without one.'),
    warnings: z.array(diagnosticSchema).optional().describe('After an upload: possible mistakes.'),
  })
  .meta({ id: 'Graph', description: 'A typed set of tasks with its owner.' });

const graphListSchema = z.array(graphSchema).meta({ id: 'GraphList' });

/** Checked by the use case, which reports all problems with their places; here it is only described. */
const graphBody = z.unknown().meta({
  id: 'GraphUpload',
  type: 'object',
  description: 'A graph. In a change, omitted fields keep their values; `tasks` replaces all tasks.',
  properties: {
    name: { type: ['string', 'null'] },
    node_filter: { type: ['string', 'null'] },
    on_success: { type: ['object', 'null'] },
    on_error: { type: ['object', 'null'] },
    on_stop: { type: ['object', 'null'] },
    tasks: { type: 'array', items: { type: 'object' } },
  },
  additionalProperties: false,
});

const taskListBody = z.unknown().meta({
  id: 'TaskListUpload',
  type: 'array',
  description: 'A plain list: all tasks of the graph.',
  items: { type: 'object' },
});

const graphCheckBody = z.unknown().meta({
  id: 'GraphToCheck',
  description: 'A graph, or a plain list of tasks.',
});

const graphCheckQuery = z.strictObject({
  cluster: idText('cluster')
    .optional()
    .describe('Check it as the graph of this cluster, merged with those of its plugins and release.'),
  graph_type: graphType.optional().describe('Default: `default`.'),
});

const graphCheckSchema = z
  .strictObject({ valid: z.boolean(), diagnostics: z.array(diagnosticSchema), tasks: z.int() })
  .meta({ id: 'GraphCheck' });

const tasksQuery = typeQuery.extend({
  start: z.string().min(1).max(1000).optional().describe('Only this task and later ones; for tasks before version 2.'),
  end: z.string().min(1).max(1000).optional().describe('Only this task and earlier ones; for tasks before version 2.'),
  include: commaList('Task types to keep even outside that range'),
});

const planQuery = typeQuery.extend({
  nodes: idList('node', 'Ids of the nodes to plan for. Default: the nodes that the graph applies to'),
  tasks: commaList('Tasks that may run. Default: all'),
  missed: flagText.optional().describe('Only tasks that have changed since they succeeded on a node.'),
});

const formattedPlanQuery = planQuery.extend({
  force: flagText.optional().describe('Treat everything as changed.'),
  format: z
    .enum(['json', 'text', 'dot'])
    .optional()
    .describe('Default: as requested by the Accept header, or else `json`.'),
});

export const drawQuery = typeQuery.extend({
  tasks: commaList('Tasks that would run; the others are drawn as skipped'),
  parents_for: z.string().min(1).max(1000).optional().describe('Only this task and its direct predecessors.'),
  remove: commaList('Task types to omit: group, stage, skipped'),
});

/** As executors of the Fuel line get it. */
const serializedSchema = z
  .looseObject({
    tasks_graph: z.record(z.string(), z.unknown()),
    tasks_directory: z.record(z.string(), z.unknown()),
    tasks_metadata: z.looseObject({}),
    dry_run: z.boolean(),
    noop_run: z.boolean(),
  })
  .meta({ id: 'SerializedTasks' });

const clusterPlanSchema = planExplanationSchema
  .extend({
    cluster: z.int(),
    type: z.string(),
    left_out: z
      .array(z.strictObject({ node: z.int(), reason: z.string() }))
      .describe('Nodes that are not part of the run.'),
    warnings: z.array(diagnosticSchema.loose()),
  })
  .meta({ id: 'ClusterPlan', description: 'The plan of a run started now, with reasons.' });

/** All tasks of a large library, in one request. */
const upload = { needsBody: true, ...LARGE_BODY } as const;
const changedGraph = { ...upload, access: 'operator', body: graphBody, answers: { 200: graphSchema } } as const;
const change = 'Change a graph; omitted fields keep their values, tasks replace all tasks';
const ofPackages = 'A graph of a release or plugin is changed by admins only.';

/** Graphs by id. */
export const graphRoutes = tagged('graphs', {
  'GET /graphs/': {
    id: 'listGraphs',
    access: 'viewer',
    summary: 'List graphs, optionally of certain owners and types',
    query: graphsQuery,
    answers: { 200: graphListSchema },
  },
  'POST /graphs/check/': {
    ...upload,
    id: 'checkGraph',
    budget: 'reading',
    access: 'viewer',
    summary: 'Check a graph; nothing is stored',
    query: graphCheckQuery,
    body: graphCheckBody,
    answers: { 200: graphCheckSchema },
    also: [404],
  },
  'GET /graphs/:id': {
    id: 'getGraph',
    access: 'viewer',
    summary: 'Show a graph',
    params: graphParams,
    answers: { 200: graphSchema },
  },
  'PUT /graphs/:id': { ...changedGraph, id: 'putGraph', summary: change, description: ofPackages, params: graphParams },
  'PATCH /graphs/:id': {
    ...changedGraph,
    id: 'patchGraph',
    summary: change,
    description: ofPackages,
    params: graphParams,
  },
  'DELETE /graphs/:id': {
    id: 'deleteGraph',
    access: 'operator',
    summary: 'Delete a graph with its tasks',
    description: ofPackages,
    params: graphParams,
    answers: gone,
  },
});

/** Graphs of releases and plugins are parts of packages: all clusters that use them run them. */
const changedBy = { cluster: 'operator', release: 'admin', plugin: 'admin' } as const;

const graphsOf = <const Id extends string>(kind: keyof typeof changedBy, id: Id) => {
  const access = changedBy[kind];
  const params = ownerGraphParams(kind);
  const changed = {
    ...changedGraph,
    access,
    params,
    summary: `Change a ${kind}'s graph; omitted fields keep their values, tasks replace all tasks`,
  };
  return tagged('graphs', {
    'GET /deployment_graphs/': {
      id: `list${id}Graphs`,
      access: 'viewer',
      summary: `List the graphs of a ${kind}`,
      params: idParams(kind),
      query: ownerGraphsQuery,
      answers: { 200: graphListSchema },
    },
    'GET /deployment_graphs/:type': {
      id: `get${id}Graph`,
      access: 'viewer',
      summary: `Show a ${kind}'s graph by type`,
      params,
      answers: { 200: graphSchema },
    },
    'POST /deployment_graphs/:type': {
      ...upload,
      id: `create${id}Graph`,
      access,
      summary: `Store a ${kind}'s graph by type`,
      description: 'All problems are reported together. Undefined names are warnings.',
      params,
      body: graphBody,
      answers: { 201: graphSchema },
      also: [409],
    },
    'PUT /deployment_graphs/:type': { ...changed, id: `put${id}Graph` },
    'PATCH /deployment_graphs/:type': { ...changed, id: `patch${id}Graph` },
    'DELETE /deployment_graphs/:type': {
      id: `delete${id}Graph`,
      access,
      summary: `Delete a ${kind}'s graph with its tasks`,
      params,
      answers: gone,
    },
  });
};

/** Graphs of releases, clusters and plugins, each by its owner and type. */
export const GRAPHS_OF = {
  release: graphsOf('release', 'Release'),
  cluster: graphsOf('cluster', 'Cluster'),
  plugin: graphsOf('plugin', 'Plugin'),
};

const replaceTasks = <const Id extends string>(kind: 'release' | 'cluster', id: Id) => ({
  ...upload,
  id: `put${id}Tasks`,
  access: changedBy[kind],
  summary: `Replace all tasks of a ${kind}'s graph, creating it where there is none`,
  description: 'Warnings are in the header `Warning`.',
  params: idParams(kind),
  query: typeQuery,
  body: taskListBody,
  answers: { 200: taskListSchema },
});

const clusterTasks = {
  access: 'viewer',
  params: idParams('cluster'),
  query: tasksQuery,
  answers: { 200: taskListSchema },
  also: [409],
} as const;
const ofCluster = { access: 'viewer', params: idParams('cluster'), also: [409] } as const;
export const GRAPHVIZ = 'text/vnd.graphviz';

/** Tasks of owners' graphs, and plans and drawings of a cluster's graphs, made on request and not stored. */
export const graphTaskRoutes = tagged('graphs', {
  'PUT /releases/:id/deployment_tasks/': replaceTasks('release', 'Release'),
  'PUT /clusters/:id/deployment_tasks/': replaceTasks('cluster', 'Cluster'),
  'GET /releases/:id/deployment_tasks/': {
    id: 'listReleaseTasks',
    access: 'viewer',
    summary: "List the tasks of a release's graph",
    params: idParams('release'),
    query: tasksQuery,
    answers: { 200: taskListSchema },
  },
  'GET /clusters/:id/deployment_tasks/': {
    ...clusterTasks,
    id: 'listClusterTasks',
    summary: "List the tasks of a cluster's graph, all layers merged",
  },
  'GET /clusters/:id/deployment_tasks/own/': {
    ...clusterTasks,
    id: 'listClusterOwnTasks',
    summary: "List the tasks of a cluster's graph from the cluster's own graph",
  },
  'GET /clusters/:id/deployment_tasks/plugins/': {
    ...clusterTasks,
    id: 'listClusterPluginTasks',
    summary: "List the tasks of a cluster's graph from the graphs of its plugins",
  },
  'GET /clusters/:id/deployment_tasks/release/': {
    ...clusterTasks,
    id: 'listClusterReleaseTasks',
    summary: "List the tasks of a cluster's graph from the graph of its release",
  },
  'GET /clusters/:id/plan/': {
    ...ofCluster,
    id: 'planCluster',
    budget: 'planning',
    summary: 'Show the plan of a run started now: what runs on each node, what does not, and why',
    query: formattedPlanQuery,
    answers: {
      200: {
        description: 'The plan; JSON unless `format` or `Accept` asks for text or DOT.',
        content: {
          'application/json': { schema: clusterPlanSchema },
          'text/plain': { schema: z.string() },
          [GRAPHVIZ]: { schema: z.string() },
        },
      },
    },
  },
  'GET /clusters/:id/serialized_tasks/': {
    ...ofCluster,
    id: 'serializeTasks',
    budget: 'planning',
    summary: "Show the plan of a graph in the format for Fuel's executors",
    query: planQuery,
    answers: { 200: serializedSchema },
  },
  'GET /clusters/:id/deploy_tasks/graph.gv': {
    ...ofCluster,
    id: 'drawGraph',
    budget: 'drawing',
    summary: "Draw a cluster's graph in Graphviz's DOT language",
    query: drawQuery,
    answers: { 200: media(GRAPHVIZ, 'The drawing.') },
  },
});

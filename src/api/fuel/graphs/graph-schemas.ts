import { z } from 'zod';
import { diagnosticSchema } from '../../../core/contracts/problem.js';
import { commaList, flagText, idParams, idText } from '../request-parts.js';

/** Types of graphs stand in paths. */
export const graphType = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[A-Za-z0-9_-]+$/, 'must have letters, digits, - and _ only')
  .describe('Type of the graph, e.g. `default`.');

/** Which graph of an owner a query is about. */
export const typeQuery = z.strictObject({ graph_type: graphType.optional().describe('`default` when not given.') });

export const graphParams = idParams('graph');

export const ownerGraphParams = (owner: string) => z.strictObject({ id: idText(owner), type: graphType });

export const graphsQuery = z.strictObject({
  clusters_ids: commaList('Ids of clusters whose graphs are wanted'),
  plugins_ids: commaList('Ids of plugins whose graphs are wanted'),
  releases_ids: commaList('Ids of releases whose graphs are wanted'),
  graph_types: commaList('Only these types'),
  fetch_related: flagText.optional().describe('Also the graphs of the release and the plugins of each cluster.'),
});

/** `fetch_related` is taken, and means nothing here: only the owner's own graphs are listed. */
export const ownerGraphsQuery = graphsQuery.pick({ fetch_related: true });

const outcome = z
  .looseObject({})
  .nullable()
  .optional()
  .describe('`{node_attributes: {status, pending_addition, pending_deletion, error_msg, error_type}}`.');

/** A task has fields of its own making; how each is written is told in docs/graphs.md. */
export const taskSchema = z
  .looseObject({ id: z.string(), type: z.unknown() })
  .meta({ id: 'GraphTask', description: 'One unit of work. Fields with two spellings are answered in both.' });

export const taskListSchema = z.array(taskSchema).meta({ id: 'GraphTaskList' });

export const graphSchema = z
  .strictObject({
    id: z.int(),
    name: z.string().nullable(),
    node_filter: z.string().optional().describe('YAQL predicate over nodes; not given: nodes that are ready for work.'),
    on_success: outcome,
    on_error: outcome,
    on_stop: outcome,
    tasks: z.array(taskSchema),
    relations: z
      .array(z.strictObject({ model: z.enum(['release', 'plugin', 'cluster']), model_id: z.int(), type: z.string() }))
      .describe('Whose it is; empty for a graph nobody owns.'),
    warnings: z.array(diagnosticSchema).optional().describe('After an upload: what may be a mistake.'),
  })
  .meta({ id: 'Graph', description: 'A typed set of tasks with its owner.' });

export const graphListSchema = z.array(graphSchema).meta({ id: 'GraphList' });

/** Checked by the use case, which tells all problems with their places; here it is only described. */
export const graphBody = z.unknown().meta({
  id: 'GraphUpload',
  type: 'object',
  description: 'A graph. In a change, what is not given stays; tasks given replace all tasks.',
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

export const taskListBody = z.unknown().meta({
  id: 'TaskListUpload',
  type: 'array',
  description: 'A bare list of tasks: all tasks of the graph.',
  items: { type: 'object' },
});

export const graphCheckBody = z.unknown().meta({
  id: 'GraphToCheck',
  description: 'A graph, or a bare list of tasks.',
});

export const graphCheckQuery = z.strictObject({
  cluster: idText('cluster')
    .optional()
    .describe('Check it as the graph of this cluster, over its plugins and release.'),
  graph_type: graphType.optional().describe('`default` when not given.'),
});

export const graphCheckSchema = z
  .strictObject({ valid: z.boolean(), diagnostics: z.array(diagnosticSchema), tasks: z.int() })
  .meta({ id: 'GraphCheck' });

export const tasksQuery = typeQuery.extend({
  start: z.string().min(1).max(1000).optional().describe('Only tasks from this one on; for tasks before version 2.'),
  end: z.string().min(1).max(1000).optional().describe('Only tasks up to this one; for tasks before version 2.'),
  include: commaList('Types of tasks that stay although they are outside'),
});

export const planQuery = typeQuery.extend({
  nodes: commaList('Ids of the nodes to plan for; not given: those the graph is for'),
  tasks: commaList('Tasks that may run; not given: all'),
});

export const formattedPlanQuery = planQuery.extend({
  force: flagText.optional().describe('Everything counts as changed.'),
  format: z.enum(['json', 'text', 'dot']).optional().describe('As the header Accept says when not given, else `json`.'),
});

export const drawQuery = typeQuery.extend({
  tasks: commaList('Tasks that would run; the others are drawn as skipped'),
  parents_for: z.string().min(1).max(1000).optional().describe('Only this task and what comes directly before it.'),
  remove: commaList('Types to leave out: group, stage, skipped'),
});

/** As executors of the Fuel line get it. */
export const serializedSchema = z
  .looseObject({
    tasks_graph: z.record(z.string(), z.unknown()),
    tasks_directory: z.record(z.string(), z.unknown()),
    tasks_metadata: z.looseObject({}),
    dry_run: z.boolean(),
    noop_run: z.boolean(),
  })
  .meta({ id: 'SerializedTasks' });

export const clusterPlanSchema = z
  .looseObject({
    cluster: z.int(),
    type: z.string(),
    totals: z.strictObject({ nodes: z.int(), tasks: z.int(), running: z.int(), first_time: z.int() }),
    nodes: z.array(z.looseObject({ node: z.string() })).describe('By node what runs and what does not, and why.'),
    not_placed: z.array(z.strictObject({ task: z.string(), reason: z.string() })),
    left_out: z.array(z.strictObject({ node: z.int(), reason: z.string() })),
    warnings: z.array(diagnosticSchema.loose()),
  })
  .meta({ id: 'ClusterPlan', description: 'What a run would do now, and why.' });

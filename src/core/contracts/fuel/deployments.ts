import { z } from 'zod';
import { MAX } from '../../run/description.ts';
import { GRAPH_RUN_MODES, TASK_STATUSES, TRANSACTION_STATUSES } from '../../words.ts';
import { holdBefore } from '../approval.ts';
import { taskStatusList } from '../graph-run.ts';
import {
  actorName,
  anyJson,
  maintenanceSchema,
  nameText,
  reasonText,
  rootCause,
  runDescription,
} from '../primitives.ts';
import { gone, tagged } from '../route.ts';
import { roleRolloutSchema } from '../written-rollout.ts';
import { graphType } from './graphs.ts';
import { commaList, flagText, idList, idNumber, idParams, idText } from './parts.ts';
import { networkParams } from './settings.ts';

/** Fuel's statuses of a transaction, and of a task on a node. */
export const FUEL_STATUSES = ['pending', 'running', 'ready', 'error'] as const;
export const FUEL_TASK_STATUSES = ['pending', 'ready', 'running', 'error', 'skipped'] as const;

const transaction = {
  id: z.int(),
  uuid: z.string(),
  name: z.string().describe('`deploy`: a run; `deployment`: one graph of it.'),
  status: z.enum(FUEL_STATUSES),
  progress: z.int().describe('Percent.'),
  cluster: z.int().nullable(),
  graph_type: z.string().nullable(),
  dry_run: z.boolean().describe('True for dry and noop runs, which change nothing.'),
  message: z.string().nullable(),
  result: anyJson,
  time_start: z.string().nullable(),
  time_end: z.string().nullable(),
  mode: z.enum(GRAPH_RUN_MODES),
  workflow_id: z.string().nullable().describe("The run's workflow in Temporal."),
  run: z.string().nullable().describe('Id of the run, as in /api/v1/runs.'),
};

export const transactionSchema = z
  .strictObject({
    ...transaction,
    parent_id: z.int().nullable().optional().describe('The run that the graph belongs to.'),
  })
  .meta({ id: 'Transaction', description: "A graph run, or one of its graphs, in Fuel's format." });

export const startedTransactionSchema = transactionSchema
  .extend({
    id: z.int().nullable().describe('Null before a worker has opened the run.'),
    warnings: z
      .array(
        z.strictObject({
          severity: z.enum(['error', 'warning', 'info']).describe('Errors only if the run was forced.'),
          code: z.string(),
          message: z.string(),
          hint: z.string().optional(),
        }),
      )
      .optional()
      .describe('Findings of the cluster checks that did not prevent the run.'),
  })
  .meta({ id: 'StartedTransaction', description: 'The transaction of a run that was just started.' });

const transactionListSchema = z.array(transactionSchema).meta({ id: 'TransactionList' });

export const recordedRunSchema = z
  .strictObject({
    ...transaction,
    status: z.enum(TRANSACTION_STATUSES).describe('The outcome of the run, or the state of the graph.'),
    parent_id: z.int().nullable().describe('The run that the graph belongs to.'),
  })
  .meta({ id: 'RecordedRun', description: 'A graph run, or one of its graphs, in the words of runs.' });

const transactionParams = idParams('transaction');

const transactionsQuery = z.strictObject({
  cluster_id: idText('cluster').optional(),
  statuses: commaList('Only these statuses: pending, running, ready, error'),
  transaction_types: commaList('Only transactions with these names, e.g. deploy, deployment'),
});

const historyListQuery = transactionsQuery.extend({
  statuses: commaList(`Only these statuses: ${TRANSACTION_STATUSES.join(', ')}`),
});

const deleteQuery = z.strictObject({
  force: flagText.optional().describe('Delete even a run that has not ended; its workflow is terminated.'),
});

const historyQuery = z.strictObject({
  nodes: idList('node', 'Only these nodes, by id; `master` and `-` are no names of nodes'),
  statuses: commaList('Only these statuses: pending, ready, running, error, skipped'),
  tasks_names: commaList('Only these tasks'),
  include_summary: flagText.optional().describe('Include the counts reported by task runners.'),
});

const historyRecord = z.looseObject({
  task_name: z.string(),
  node_id: z.string().describe('`-` for a task without a node.'),
  status: z.enum(FUEL_TASK_STATUSES),
  time_start: z.string().nullable(),
  time_end: z.string().nullable(),
});

const historySchema = z
  .array(
    historyRecord.meta({ id: 'HistoryRecord', description: 'Result of a task on a node, with the task definition.' }),
  )
  .meta({ id: 'DeploymentHistory' });

const transactionTasksSchema = z
  .array(
    historyRecord.extend({ status: z.enum(TASK_STATUSES), root_cause: rootCause.optional() }).meta({
      id: 'TransactionTask',
      description: 'Result of a task on a node in the words of runs, with the task definition.',
    }),
  )
  .meta({ id: 'TransactionTaskList' });

const snapshotSchema = z.looseObject({}).meta({ id: 'Snapshot', description: 'The settings in effect.' });

const transactionPlansSchema = z
  .strictObject({
    transaction: z.int(),
    plans: z.array(z.strictObject({ transaction: z.int(), graph_type: z.string().nullable(), plan: anyJson })),
  })
  .meta({ id: 'TransactionPlans', description: 'The plan of each graph of a run, with reasons.' });

const flags = {
  dry_run: z.boolean().optional().describe('Plan only: report what would run and why; execute nothing.'),
  noop_run: z.boolean().optional().describe('Run tasks in no-op mode: report what they would change; change nothing.'),
  force: z.boolean().optional().describe('Treat everything as changed.'),
  debug: z.boolean().optional().describe('Run tasks with more detailed output.'),
  started_by: actorName.optional(),
  reason: reasonText.min(1).optional(),
  rollouts: z
    .record(nameText(MAX.name), roleRolloutSchema.nullable())
    .optional()
    .describe('By role, its rollout in this run instead of that of the release or the cluster; null: none.'),
  override_limits: reasonText
    .min(1)
    .optional()
    .describe('Go beyond the limits of the sites, for this reason. Requires the role admin.'),
  ...runDescription,
};

const side = z
  .array(nameText(MAX.name).nullable())
  .max(MAX.names)
  .optional()
  .describe('Tasks as TASK or TASK/NODES, e.g. `netconfig/1,3-5`.');

const names = z.array(nameText(MAX.name)).min(1).max(MAX.names);

export const executeBody = z
  .strictObject({
    cluster: idNumber('cluster'),
    graphs: z
      .array(
        z.strictObject({
          type: graphType,
          nodes: z.array(idNumber('node')).min(1).max(MAX.names).optional(),
          tasks: names.optional().describe('Tasks that may run. Default: all.'),
          missed: z
            .boolean()
            .optional()
            .describe('Only tasks that have changed since they succeeded on a node, as if they had never run there.'),
        }),
      )
      .min(1)
      .max(1000)
      .optional()
      .describe('Graph types to run, in order. Required unless `sequence` or `from` is set.'),
    sequence: idNumber('sequence').optional().describe('Run the graphs of this sequence instead of `graphs`.'),
    from: idNumber('transaction')
      .optional()
      .describe('Continue from an earlier run: its failed tasks and everything after them.'),
    subgraphs: z
      .array(z.strictObject({ start: side, end: side }))
      .max(1000)
      .optional()
      .describe('Only tasks from `start` to `end`, inclusive.'),
    max_nodes: z.int().min(0).optional().describe('Maximum number of busy nodes; 0 for no limit.'),
    hold_on_failure: z
      .boolean()
      .optional()
      .describe('Keep a graph with failed tasks open until they are retried or skipped, or the run is stopped.'),
    hold_before: holdBefore,
    ...flags,
  })
  .meta({ id: 'ExecuteGraphs' });

const executeSequenceBody = z.strictObject({ cluster: idNumber('cluster'), ...flags }).meta({ id: 'ExecuteSequence' });

const flagQueries = {
  dry_run: flagText.optional().describe('Plan only.'),
  noop_run: flagText.optional().describe('Run tasks in no-op mode.'),
  force: flagText.optional().describe('Treat everything as changed.'),
  debug: flagText.optional().describe('Run tasks with more detailed output.'),
};

const changesQuery = z.strictObject(flagQueries);

const deployQuery = changesQuery.extend({
  graph_type: graphType.optional().describe('Default: `default`.'),
  nodes: idList('node', 'Ids of the nodes. Default: the nodes that the graph applies to'),
});

/** Clients send `{}`; whatever it is, it means nothing here. */
const ignoredBody = z.unknown().meta({ id: 'Ignored', description: 'Accepted and ignored.' });

const taskNamesBody = z
  .unknown()
  .meta({ id: 'TaskNames', type: 'array', items: { type: 'string' }, description: 'Names of the tasks to run.' });

const sequenceGraphs = z
  .array(z.looseObject({ type: graphType }))
  .min(1)
  .max(1000)
  .describe('Types of graphs, in order.');

const sequenceName = nameText(255);

const newSequenceBody = z
  .strictObject({ name: sequenceName, release: idNumber('release'), graphs: sequenceGraphs })
  .meta({ id: 'NewSequence' });

const sequenceChangeBody = z
  .strictObject({ name: sequenceName.optional(), graphs: sequenceGraphs.optional() })
  .meta({ id: 'SequenceChange' });

export const sequenceSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    release_id: z.int(),
    graphs: z.array(z.looseObject({ type: z.string() })),
  })
  .meta({ id: 'Sequence', description: 'Graph types to run, one after another.' });

const sequenceListSchema = z.array(sequenceSchema).meta({ id: 'SequenceList' });

const sequencesQuery = z.strictObject({
  release: idText('release').optional(),
  cluster: idText('cluster').optional(),
});

const sequenceParams = idParams('sequence');

const started = {
  access: 'operator',
  answers: { 202: startedTransactionSchema.describe('Started; returns the transaction of the run.') },
  also: [404, 409],
} as const;
const ofCluster = { ...started, params: idParams('cluster') } as const;
const changes = {
  ...ofCluster,
  description:
    "Runs the sequence `deploy-changes` of the cluster's release, or else the graphs deletion, provisioning and default.",
  query: changesQuery,
  body: ignoredBody,
} as const;

const pendingChangesSchema = z
  .strictObject({
    cluster: z.int(),
    sequence: z
      .strictObject({ id: z.int(), name: z.string() })
      .nullable()
      .describe('The sequence that is run; null: the graphs with something to do.'),
    graphs: z.array(z.string()).describe('Types of the graphs, in their order.'),
    nodes: z.array(
      z.strictObject({
        id: z.int(),
        name: z.string(),
        change: z.enum(['added', 'removed', 'roles']),
        roles: z.array(z.string()),
        pending_roles: z.array(z.string()),
      }),
    ),
    maintenance: z
      .array(maintenanceSchema.extend({ id: z.int(), name: z.string() }))
      .describe('Nodes that are left out, because people work on them.'),
    settings: z
      .array(z.strictObject({ path: z.string(), before: anyJson.optional(), now: anyJson.optional() }))
      .nullable()
      .describe('Settings that differ from what tasks saw last. Null before any task has succeeded: all are new.'),
  })
  .meta({ id: 'PendingChanges', description: 'What a deployment of changes would bring to a cluster.' });

/** Starting and stopping runs of graphs. */
export const executionRoutes = tagged('deployments', {
  'POST /graphs/execute/': {
    ...started,
    id: 'executeGraphs',
    summary: 'Run graphs on a cluster, one after another',
    description: 'One run per cluster at a time: a second one is refused; `hint` and `run` name the first.',
    body: executeBody,
  },
  'POST /sequences/:id/execute/': {
    ...started,
    id: 'executeSequence',
    summary: 'Run the graphs of a sequence on a cluster',
    params: sequenceParams,
    body: executeSequenceBody,
  },
  'PUT /clusters/:id/deploy/': {
    ...ofCluster,
    id: 'deployCluster',
    summary: 'Run one graph of a cluster',
    query: deployQuery,
    body: ignoredBody,
  },
  // As the specification of custom graphs spells it.
  'PUT /cluster/:id/deploy/': {
    ...ofCluster,
    id: 'deployOneCluster',
    summary: 'Run one graph of a cluster; alias of `PUT /clusters/:id/deploy/`',
    query: deployQuery,
    body: ignoredBody,
  },
  'PUT /clusters/:id/provision/': {
    ...ofCluster,
    id: 'provisionCluster',
    summary: "Run a cluster's graph of type `provisioning`, or `provision`",
    query: deployQuery.omit({ graph_type: true }),
    body: ignoredBody,
  },
  'PUT /clusters/:id/deploy_tasks/': {
    ...ofCluster,
    id: 'deployTasks',
    summary: 'Run some tasks of one graph of a cluster',
    query: deployQuery,
    body: taskNamesBody,
  },
  'GET /clusters/:id/changes/': {
    id: 'getChanges',
    access: 'viewer',
    summary: 'Show what a deployment of changes would do: nodes that come and leave, changed settings, graphs',
    params: idParams('cluster'),
    answers: { 200: pendingChangesSchema },
  },
  'PUT /clusters/:id/changes/': { ...changes, id: 'deployChanges', summary: 'Deploy the changes of a cluster' },
  'PUT /clusters/:id/changes/redeploy/': {
    ...changes,
    id: 'redeployChanges',
    summary: 'Deploy a cluster as if everything had changed',
  },
  'PUT /clusters/:id/network_configuration/:provider/verify': {
    ...started,
    id: 'verifyNetworks',
    summary: "Run a cluster's graph of type `network_verification`, or `net-verification`",
    params: networkParams,
    body: ignoredBody,
  },
  'PUT /clusters/:id/stop_deployment/': {
    ...ofCluster,
    id: 'stopDeployment',
    summary: "Stop a cluster's run gracefully: running tasks finish, nothing new starts",
    body: ignoredBody,
  },
});

const changedSequence = {
  access: 'operator',
  summary: 'Change a sequence of graphs; omitted fields keep their values',
  params: sequenceParams,
  body: sequenceChangeBody,
  answers: { 200: sequenceSchema },
  also: [409],
} as const;

export const sequenceRoutes = tagged('deployments', {
  'GET /sequences/': {
    id: 'listSequences',
    access: 'viewer',
    summary: 'List sequences of graphs, all or those of a release',
    query: sequencesQuery,
    answers: { 200: sequenceListSchema },
    also: [404],
  },
  'POST /sequences/': {
    id: 'createSequence',
    access: 'operator',
    summary: 'Store a sequence of graphs',
    body: newSequenceBody,
    answers: { 201: sequenceSchema },
    also: [404, 409],
  },
  'GET /sequences/:id': {
    id: 'getSequence',
    access: 'viewer',
    summary: 'Show a sequence of graphs',
    params: sequenceParams,
    answers: { 200: sequenceSchema },
  },
  'PUT /sequences/:id': { ...changedSequence, id: 'putSequence' },
  'PATCH /sequences/:id': { ...changedSequence, id: 'patchSequence' },
  'DELETE /sequences/:id': {
    id: 'deleteSequence',
    access: 'operator',
    summary: 'Delete a sequence of graphs, but not its graphs',
    params: sequenceParams,
    answers: gone,
  },
});

const one = { access: 'viewer', params: transactionParams } as const;
const shown = {
  ...one,
  summary: 'Show a graph run, or one of its graphs',
  answers: { 200: transactionSchema },
} as const;
const listed = { access: 'viewer', query: transactionsQuery, answers: { 200: transactionListSchema } } as const;
const removed = { ...one, access: 'operator', query: deleteQuery, answers: gone } as const;
const snapshot = { ...one, answers: { 200: snapshotSchema } } as const;

/** Results of graph runs. */
export const transactionRoutes = tagged('deployments', {
  'GET /transactions/': {
    ...listed,
    id: 'listTransactions',
    summary: 'List graph runs and their graphs, including hidden ones',
  },
  'GET /history': {
    id: 'listHistory',
    access: 'viewer',
    summary: 'List graph runs and their graphs in the words of runs',
    query: historyListQuery,
    answers: { 200: z.array(recordedRunSchema).meta({ id: 'History' }) },
    also: [404],
  },
  'GET /transactions/:id': { ...shown, id: 'getTransaction' },
  'DELETE /transactions/:id': {
    ...removed,
    id: 'deleteTransaction',
    summary: 'Permanently delete a graph run with its history',
  },
  'GET /tasks/': { ...listed, id: 'listTasks', summary: 'List graph runs and their graphs, except hidden ones' },
  'GET /tasks/:id': { ...shown, id: 'getTask' },
  'DELETE /tasks/:id': { ...removed, id: 'deleteTask', summary: 'Hide a graph run from the list of tasks' },
  'GET /transactions/:id/deployment_info': {
    ...snapshot,
    id: 'getDeploymentInfo',
    summary: 'Show the task data at the time the graph was planned',
  },
  'GET /transactions/:id/settings': {
    ...snapshot,
    id: 'getTransactionSettings',
    summary: "Show the cluster's settings at the time the graph was planned",
  },
  'GET /transactions/:id/network_configuration': {
    ...snapshot,
    id: 'getTransactionNetworks',
    summary: "Show the cluster's networks at the time the graph was planned",
  },
  'GET /transactions/:id/plan': {
    ...one,
    id: 'getTransactionPlans',
    summary: "Show the plans of a run's graphs with reasons; also for a dry run",
    answers: { 200: transactionPlansSchema },
  },
  'GET /transactions/:id/tasks': {
    ...one,
    id: 'listTransactionTasks',
    summary: 'Show the result of each task on each node in the words of runs',
    query: historyQuery.extend({ statuses: taskStatusList }),
    answers: { 200: transactionTasksSchema },
  },
  'GET /transactions/:id/deployment_history/': {
    ...one,
    id: 'getDeploymentHistory',
    summary: 'Show the result of each task on each node',
    query: historyQuery,
    answers: {
      200: {
        description: 'The records; as CSV if `Accept` is `text/csv`.',
        content: { 'application/json': { schema: historySchema }, 'text/csv': { schema: z.string() } },
      },
    },
  },
});

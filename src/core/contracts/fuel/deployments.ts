import { z } from 'zod';
import { MAX } from '../../run-description.ts';
import { GRAPH_RUN_MODES, TRANSACTION_STATUSES } from '../../words.ts';
import { holdBefore } from '../approval.ts';
import { actorName, anyJson, nameText, reasonText, runDescription } from '../primitives.ts';
import { gone, tagged } from '../route.ts';
import { graphType } from './graphs.ts';
import { commaList, flagText, idNumber, idParams, idText } from './parts.ts';
import { networkParams } from './settings.ts';

const transaction = {
  id: z.int(),
  uuid: z.string(),
  name: z.string().describe('`deploy` is a run, `deployment` one graph of it.'),
  status: z.enum(TRANSACTION_STATUSES),
  progress: z.int().describe('Percent.'),
  cluster: z.int().nullable(),
  graph_type: z.string().nullable(),
  dry_run: z.boolean().describe('True for a dry run and for a noop run: neither changes anything.'),
  message: z.string().nullable(),
  result: anyJson,
  time_start: z.string().nullable(),
  time_end: z.string().nullable(),
  mode: z.enum(GRAPH_RUN_MODES),
  workflow_id: z.string().nullable().describe("The run's workflow in Temporal."),
  run: z.string().nullable().describe('Id of the run, as below /api/v1/runs.'),
};

export const transactionSchema = z
  .strictObject({
    ...transaction,
    parent_id: z.int().nullable().optional().describe('The run that a graph is part of.'),
  })
  .meta({ id: 'Transaction', description: 'A run of graphs, or one graph of it, as Fuel shows them.' });

export const startedTransactionSchema = transactionSchema
  .extend({
    warnings: z
      .array(
        z.strictObject({
          severity: z.enum(['error', 'warning', 'info']).describe('Errors only where the run was forced.'),
          code: z.string(),
          message: z.string(),
          hint: z.string().optional(),
        }),
      )
      .optional()
      .describe('What the checks of the cluster found, although it runs.'),
  })
  .meta({ id: 'StartedTransaction', description: 'The transaction of a run that was just started.' });

const transactionListSchema = z.array(transactionSchema).meta({ id: 'TransactionList' });

const transactionParams = idParams('transaction');

const transactionsQuery = z.strictObject({
  cluster_id: idText('cluster').optional(),
  statuses: commaList('Only these of pending, running, ready, error'),
  transaction_types: commaList('Only these names, e.g. deploy, deployment'),
});

const deleteQuery = z.strictObject({
  force: flagText.optional().describe('Also one that has not ended: its workflow is terminated.'),
});

const historyQuery = z.strictObject({
  nodes: commaList('Only these nodes'),
  statuses: commaList('Only these of pending, ready, running, error, skipped'),
  tasks_names: commaList('Only these tasks'),
  include_summary: flagText.optional().describe("Also what the tasks' runners counted."),
});

const historySchema = z
  .array(
    z
      .looseObject({
        task_name: z.string(),
        node_id: z.string().describe('`-` for a task that is on no node.'),
        status: z.enum(['pending', 'ready', 'running', 'error', 'skipped']),
        time_start: z.string().nullable(),
        time_end: z.string().nullable(),
      })
      .meta({ id: 'HistoryRecord', description: 'How a task went on a node, with the definition of the task.' }),
  )
  .meta({ id: 'DeploymentHistory' });

const snapshotSchema = z.looseObject({}).meta({ id: 'Snapshot', description: 'What was in force.' });

const transactionPlansSchema = z
  .strictObject({
    transaction: z.int(),
    plans: z.array(z.strictObject({ transaction: z.int(), graph_type: z.string().nullable(), plan: anyJson })),
  })
  .meta({ id: 'TransactionPlans', description: 'What each planned graph of a run set out to do, and why.' });

const flags = {
  dry_run: z.boolean().optional().describe('Plan, and say what would run and why; nothing is executed.'),
  noop_run: z.boolean().optional().describe('Have the tasks say what they would change; nothing is changed.'),
  force: z.boolean().optional().describe('Everything counts as changed.'),
  debug: z.boolean().optional().describe('Ask the runners of tasks for more detail.'),
  started_by: actorName.optional(),
  reason: reasonText.min(1).optional(),
  ...runDescription,
};

const side = z
  .array(nameText(MAX.name).nullable())
  .max(MAX.names)
  .optional()
  .describe('Tasks as TASK or TASK/NODES, e.g. `netconfig/1,3-5`.');

const names = z.array(nameText(MAX.name)).min(1).max(MAX.names);

const executeBody = z
  .strictObject({
    cluster: idNumber('cluster'),
    graphs: z
      .array(
        z.strictObject({
          type: graphType,
          nodes: z.array(idNumber('node')).min(1).max(MAX.names).optional(),
          tasks: names.optional().describe('Tasks that may run; not given: all.'),
        }),
      )
      .min(1)
      .max(1000)
      .optional()
      .describe('Types of graphs to run, in order. Needed unless `sequence` or `from` is given.'),
    sequence: idNumber('sequence').optional().describe('The graphs of this sequence, in place of `graphs`.'),
    from: idNumber('transaction')
      .optional()
      .describe('Go on from an earlier run: what failed there, and all after it.'),
    subgraphs: z
      .array(z.strictObject({ start: side, end: side }))
      .max(1000)
      .optional()
      .describe('Only what is at or after `start` and at or before `end`.'),
    max_nodes: z.int().min(0).optional().describe('Most nodes busy at once; 0 for no limit.'),
    hold_on_failure: z
      .boolean()
      .optional()
      .describe('Keep a graph with failed tasks open until somebody retries or skips them, or stops the run.'),
    hold_before: holdBefore,
    ...flags,
  })
  .meta({ id: 'ExecuteGraphs' });

const executeSequenceBody = z.strictObject({ cluster: idNumber('cluster'), ...flags }).meta({ id: 'ExecuteSequence' });

const flagQueries = {
  dry_run: flagText.optional().describe('Plan only.'),
  noop_run: flagText.optional().describe('Have the tasks say what they would change.'),
  force: flagText.optional().describe('Everything counts as changed.'),
  debug: flagText.optional().describe('Ask the runners of tasks for more detail.'),
};

const changesQuery = z.strictObject(flagQueries);

const deployQuery = changesQuery.extend({
  graph_type: graphType.optional().describe('`default` when not given.'),
  nodes: commaList('Ids of the nodes; not given: those the graph is for'),
});

/** Clients send `{}`; whatever it is, it means nothing here. */
const ignoredBody = z.unknown().meta({ id: 'Ignored', description: 'Taken, and not looked at.' });

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
  .meta({ id: 'Sequence', description: 'Types of graphs to run one after another.' });

const sequenceListSchema = z.array(sequenceSchema).meta({ id: 'SequenceList' });

const sequencesQuery = z.strictObject({
  release: idText('release').optional(),
  cluster: idText('cluster').optional(),
});

const sequenceParams = idParams('sequence');

const started = {
  access: 'operator',
  answers: { 202: startedTransactionSchema.describe("Started; the run's transaction.") },
  also: [404, 409],
} as const;
const ofCluster = { ...started, params: idParams('cluster') } as const;
const changes = {
  ...ofCluster,
  description: "The sequence `deploy-changes` of the cluster's release, else deletion, provisioning and default.",
  query: changesQuery,
  body: ignoredBody,
} as const;

/** Starting and stopping runs of graphs. */
export const executionRoutes = tagged('deployments', {
  'POST /graphs/execute/': {
    ...started,
    id: 'executeGraphs',
    summary: 'Run graphs on a cluster, one after another',
    description: 'One run per cluster at a time: a second one is refused, with the first in `hint` and `run`.',
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
    summary: 'Run one graph of a cluster; the same as `PUT /clusters/:id/deploy/`',
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
  'PUT /clusters/:id/changes/': { ...changes, id: 'deployChanges', summary: 'Deploy what has changed in a cluster' },
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
    summary: "Stop a cluster's run: what runs ends, nothing new starts",
    body: ignoredBody,
  },
});

const changedSequence = {
  access: 'operator',
  summary: 'Change a sequence of graphs: what is not given stays',
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
    summary: 'Delete a sequence of graphs; the graphs stay',
    params: sequenceParams,
    answers: gone,
  },
});

const one = { access: 'viewer', params: transactionParams } as const;
const shown = {
  ...one,
  summary: 'Show a run of graphs, or one graph of it',
  answers: { 200: transactionSchema },
} as const;
const listed = { access: 'viewer', query: transactionsQuery, answers: { 200: transactionListSchema } } as const;
const removed = { ...one, access: 'operator', query: deleteQuery, answers: gone } as const;
const snapshot = { ...one, answers: { 200: snapshotSchema } } as const;

/** What runs of graphs did. */
export const transactionRoutes = tagged('deployments', {
  'GET /transactions/': {
    ...listed,
    id: 'listTransactions',
    summary: 'List runs of graphs and their parts, hidden ones too',
  },
  'GET /transactions/:id': { ...shown, id: 'getTransaction' },
  'DELETE /transactions/:id': {
    ...removed,
    id: 'deleteTransaction',
    summary: 'Delete a run of graphs with its history, for good',
  },
  'GET /tasks/': { ...listed, id: 'listTasks', summary: 'List runs of graphs and their parts, without hidden ones' },
  'GET /tasks/:id': { ...shown, id: 'getTask' },
  'DELETE /tasks/:id': { ...removed, id: 'deleteTask', summary: 'Hide a run of graphs from the list of tasks' },
  'GET /transactions/:id/deployment_info': {
    ...snapshot,
    id: 'getDeploymentInfo',
    summary: 'Show the data that tasks saw as it was when the graph was planned',
  },
  'GET /transactions/:id/settings': {
    ...snapshot,
    id: 'getTransactionSettings',
    summary: "Show the cluster's settings as it was when the graph was planned",
  },
  'GET /transactions/:id/network_configuration': {
    ...snapshot,
    id: 'getTransactionNetworks',
    summary: "Show the cluster's networks as it was when the graph was planned",
  },
  'GET /transactions/:id/plan': {
    ...one,
    id: 'getTransactionPlans',
    summary: 'Show what the planned graphs of a run set out to do, and why; also of a dry run',
    answers: { 200: transactionPlansSchema },
  },
  'GET /transactions/:id/deployment_history/': {
    ...one,
    id: 'getDeploymentHistory',
    summary: 'Show how each task went on each node',
    query: historyQuery,
    answers: {
      200: {
        description: 'The records; as CSV where `Accept` is `text/csv`.',
        content: { 'application/json': { schema: historySchema }, 'text/csv': { schema: z.string() } },
      },
    },
  },
});

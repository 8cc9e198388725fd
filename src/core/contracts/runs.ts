import { z } from 'zod';
import { MAX } from '../run/description.ts';
import { RUN_KINDS, RUN_OUTCOMES, SITE_RUN_KINDS } from '../words.ts';
import { holdBefore } from './approval.ts';
import { graphType } from './fuel/graphs.ts';
import { idList } from './fuel/parts.ts';
import { graphPlansSchema, graphRunReportSchema, graphRunStatusSchema } from './graph-run.ts';
import { takesNames } from './named-ids.ts';
import { runNodeListSchema } from './node-in-run.ts';
import {
  actorName,
  anyJson,
  flagQuery,
  nameText,
  pageOf,
  pageQuery,
  reasonText,
  runDescription,
  runNodeParams,
  runParams,
  runTaskParams,
  siteParams,
  timestamp,
} from './primitives.ts';
import { media, tagged } from './route.ts';
import { runPlanSchema, runStatusSchema, runTreeSchema } from './site-run.ts';
import { runReportSchema } from './site-run-report.ts';
import type { Sent, Wire } from './wire.ts';

export const startRunBody = z
  .strictObject({
    kind: z.enum(SITE_RUN_KINDS).describe('The workflow to start.'),
    revision: z
      .union([z.int().min(1), z.string().min(1).max(100)])
      .optional()
      .describe('A number, a hash, or `latest` (default).'),
    fetch: z
      .boolean()
      .optional()
      .describe(
        'First fetch the documents from the branch that the site follows; update_site ends if they are already deployed.',
      ),
    nodes: z
      .array(nameText(MAX.name))
      .max(MAX.names)
      .optional()
      .describe('redeploy_nodes: the nodes to release and deploy again. test_site: look only at these.'),
    checks: z
      .array(nameText(MAX.name))
      .min(1)
      .max(MAX.names)
      .optional()
      .describe('test_site: ask only these checks. Default: all of the site.'),
    adopt: z
      .array(nameText(MAX.name))
      .max(MAX.names)
      .optional()
      .describe(
        'deploy_site: nodes whose machines are taken over as they are, though something else deployed them with our MAAS user.',
      ),
    erase: z.boolean().optional().describe('redeploy_nodes: also erase the disks.'),
    release_removed: z
      .boolean()
      .optional()
      .describe('update_site: also release the machines of nodes removed from the documents.'),
    override_limits: reasonText
      .min(1)
      .optional()
      .describe('Go beyond the limits of the site, for this reason. Requires the role admin. Not of test_site.'),
    hold_before: holdBefore,
    reason: reasonText.min(1).optional(),
    started_by: actorName.optional(),
    ...runDescription,
  })
  .meta({ id: 'StartRun' });

export const operatorBody = z
  .strictObject({ reason: reasonText.optional(), by: actorName.optional() })
  .meta({ id: 'OperatorRequest' });

const approvalBody = operatorBody
  .extend({
    before: z
      .string()
      .optional()
      .describe('An entry of `hold_before` of the run. Default: everything that waits for approval now.'),
  })
  .meta({ id: 'ApprovalRequest' });

const rolloutBody = operatorBody
  .extend({
    group: z
      .string()
      .min(1)
      .max(MAX.name)
      .optional()
      .describe(
        'A group with a rollout; of a run of graphs a role. Default: every one for which it has an effect now.',
      ),
  })
  .meta({ id: 'RolloutRequest' });

const nodeRetryBody = operatorBody
  .extend({
    tasks: z
      .boolean()
      .optional()
      .describe('Of a run of graphs: its tasks run again before its checks are asked. Default: false.'),
  })
  .meta({ id: 'NodeRetryRequest' });

const promotionBody = rolloutBody
  .extend({
    limit: z
      .int()
      .min(1)
      .optional()
      .describe(
        'So many failed nodes stop the rollout from now on. Default: its limit stays, and one more failure holds it again.',
      ),
    recheck: z
      .boolean()
      .optional()
      .describe(
        'Of a rollout that is held by its checks or by silent nodes: ask them again, and go on only if all are well. Default: false.',
      ),
  })
  .meta({ id: 'Promotion' });

const run = {
  id: z.string(),
  number: z
    .int()
    .nullable()
    .describe(
      'The number that people use; the transaction of a run of graphs has the same. Null before a worker has opened the run.',
    ),
  workflow_id: z.string(),
  temporal_run_id: z.string().nullable(),
  temporal_url: z.string().nullable().describe("The run's page in Temporal's Web UI; null if unknown."),
  kind: z.string(),
  site: z.string().nullable(),
  revision: z.int().nullable(),
  title: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  cluster: z.int().nullable().describe('The cluster of a graph run.'),
  phase: z.string(),
  outcome: z
    .string()
    .nullable()
    .describe(
      'Null until the run ends; then success, success_with_failures, failed, stopped, cancelled, or how Temporal ended it.',
    ),
  started_by: z.string().nullable(),
  reason: z.string().nullable(),
  started_at: timestamp,
  ended_at: timestamp.nullable(),
  failed_nodes: z.int().nullable().describe('Nodes that have failed; for a graph run, nodes with a failed task.'),
  failed_tasks: z.int().nullable().describe('For a graph run: tasks that have failed.'),
  paused: z.boolean().describe('Whether it is paused now.'),
  held: z.boolean().describe('Whether it is held: a task has failed, or a rollout waits, and an operator decides.'),
  awaiting_approval: z.boolean().describe('Whether it waits for approval now; its status has the details.'),
  done: z.int().nullable().describe('Nodes, or tasks of a graph run, that have ended; null if unknown.'),
  total: z.int().nullable().describe('Total number of nodes or tasks.'),
  failure: z.string().nullable().describe('Why it did not succeed, or the failures so far.'),
};

export const runSchema = z.strictObject(run).meta({ id: 'Run', description: 'One execution on a site.' });

const runDetailSchema = z
  .strictObject({
    ...run,
    description: z.string().nullable().describe('Description given at its start; Markdown.'),
    parameters: anyJson.describe('The input it was started with.'),
  })
  .meta({ id: 'RunDetail' });

export const runPageSchema = pageOf(runSchema).meta({ id: 'RunPage' });

/** Of a run on a site, or of a run of graphs. */
export const anyStatusSchema = z.union([runStatusSchema, graphRunStatusSchema]);
const anyReportSchema = z.union([runReportSchema, graphRunReportSchema]);

const runPlanAnswerSchema = z
  .strictObject({
    plan: z
      .union([runPlanSchema, graphPlansSchema])
      .nullable()
      .describe('Null until the documents are loaded. For a graph run: the plans made so far.'),
  })
  .meta({ id: 'RunPlanAnswer' });

/** One, or several by repeating the parameter. */
const several = <T extends z.ZodType>(one: T) => z.union([one, z.array(one).min(1).max(50)]).optional();

const siteRunsQuery = pageQuery.extend({
  kind: several(z.enum(RUN_KINDS)).describe('Only runs of this kind; may be repeated.'),
  phase: several(z.string().min(1)).describe(
    'Only runs in this phase; may be repeated. A run of graphs has phases such as `default: running`.',
  ),
  outcome: several(z.enum(RUN_OUTCOMES)).describe('Only runs with this outcome; may be repeated.'),
  label: several(z.string().min(1)).describe(
    'Only runs with this label, as `NAME:VALUE`; if repeated, with all of them.',
  ),
  started_by: z.string().min(1).max(1000).optional().describe('Only runs that this user or token started.'),
  since: timestamp.min(1).max(50).optional().describe('Only runs started at or after this time, ISO 8601.'),
  until: timestamp.min(1).max(50).optional().describe('Only runs started before this time, ISO 8601.'),
  text: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Only runs whose id, workflow, kind, site, title, starter, reason or failure contains this text; case-insensitive.',
    ),
  open: flagQuery.optional().describe('`true`: only runs under way. `false`: only ended ones.'),
});

const clusterQuery = takesNames(z.coerce.number().int().min(1), 'cluster');

const runsQuery = siteRunsQuery.extend({
  site: z.string().min(1).max(1000).optional().describe('Only runs on this site.'),
  cluster: clusterQuery.optional().describe('Only runs of graphs on this cluster, by its id or name.'),
  workflow_id: z.string().min(1).max(1000).optional().describe('Only runs of the workflow with this id.'),
  number: z.coerce.number().int().min(1).optional().describe('Only the run with this number.'),
});

export type Run = Wire<typeof runSchema>;
export type RunDetail = Wire<typeof runDetailSchema>;
export type StartRunBody = Sent<typeof startRunBody>;

const outputStream = z.enum(['stdout', 'stderr']);

const usualQuery = z.strictObject({
  graph: graphType.optional().describe('Of a run of graphs: only tasks of this one.'),
  nodes: idList('node', 'Of a run of graphs: on these nodes, by id'),
});

const usualTimesSchema = z
  .strictObject({
    runs: z.int().describe('How many earlier runs tell; at most the five newest that succeeded.'),
    seconds: z
      .record(z.string(), z.number())
      .describe('The median: of a run on a site by node, of a run of graphs by task.'),
  })
  .meta({ id: 'UsualTimes' });

const taskLogQuery = z.strictObject({
  stream: outputStream
    .optional()
    .describe('Only this stream. Default: both, in the order in which the node received them.'),
  offset: z.coerce.number().int().min(0).optional().describe('Bytes to skip at the start, of the streams requested.'),
  attempt: z.coerce.number().int().min(1).optional().describe('Default: the newest started attempt.'),
  follow: flagQuery.optional().describe('`true`: stream until the task ends.'),
});

const attemptQuery = z.strictObject({
  task: runTaskParams.shape.task.optional().describe('Of a run of graphs: the task.'),
  attempt: z.coerce.number().int().min(1).optional().describe('At the task. Default: the newest.'),
});

const taskLogEvent = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('output'),
    data: z.strictObject({ stream: outputStream, offset: z.int(), text: z.string() }),
  }),
  z.strictObject({
    event: z.literal('gap'),
    data: z.strictObject({ stream: outputStream, offset: z.int(), to: z.int() }),
  }),
  z.strictObject({ event: z.literal('ended'), data: z.strictObject({ outcome: z.string(), message: z.string() }) }),
]);

/** A task's output as events. */
export type LogEvent = Wire<typeof taskLogEvent>;

const place = z.string().regex(/^\d{1,6}\.\d{1,15}$/, 'must be a place that an answer named');

const runLogQuery = z.strictObject({
  before: place.optional().describe('Lines before this position from an earlier answer. Default: the newest lines.'),
  after: place.optional().describe('Lines after this position from an earlier answer.'),
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Approximate number of lines. Default: 200.'),
  search: z.string().min(1).max(500).optional().describe('Only lines with this text; case-insensitive.'),
  task: z.string().max(1000).optional().describe('Only of this task.'),
  node: z.string().max(1000).optional().describe('Only of this node.'),
  stream: outputStream.optional().describe('Only this stream. Default: both, and the ends of tasks.'),
});

const runLogLine = z
  .strictObject({
    place: place.describe('Position of this line; lines of one chunk of output share it.'),
    at: z.iso.datetime().describe('When it arrived from the node.'),
    task: z.string(),
    node: z.string(),
    attempt: z.int(),
    stream: z.enum(['stdout', 'stderr', 'ended']).describe('`ended`: the task has ended; the text is its outcome.'),
    text: z.string(),
  })
  .meta({ id: 'RunLogLine' });

const runLogPage = z
  .strictObject({
    items: z.array(runLogLine).describe('Oldest first.'),
    earlier: place.nullable().describe('Pass it as `before` for earlier lines; null at the start.'),
    later: place.describe('Pass it as `after` for later lines.'),
  })
  .meta({ id: 'RunLogPage' });
export type RunLogPage = Wire<typeof runLogPage>;

const read = { access: 'viewer', params: runParams } as const;
const steer = { access: 'operator', params: runParams, body: operatorBody, also: [409] } as const;
const steered = { 200: anyStatusSchema };
const ending = { 202: runSchema.describe('Sent to the run; watch the run for its end.') };

export const runRoutes = tagged('runs', {
  'POST /sites/:site/runs': {
    id: 'startRun',
    access: 'operator',
    summary: 'Start a run on a site',
    description: 'One run per site at a time: a second one is refused with the id of the first (`run`).',
    params: siteParams,
    body: startRunBody,
    answers: { 202: runSchema.describe('Started; `Location` is the address of the run.') },
    also: [409],
  },
  'GET /runs': {
    id: 'listRuns',
    access: 'viewer',
    summary: 'List runs, newest first',
    query: runsQuery,
    answers: { 200: runPageSchema },
    also: [404],
  },
  'GET /sites/:site/runs': {
    id: 'listSiteRuns',
    access: 'viewer',
    summary: "List a site's runs, newest first",
    params: siteParams,
    query: siteRunsQuery,
    answers: { 200: runPageSchema },
  },
  'GET /runs/:run': { ...read, id: 'getRun', summary: 'Show a run', answers: { 200: runDetailSchema } },
  'GET /runs/:run/status': { ...read, id: 'getRunStatus', summary: 'Show the progress of a run', answers: steered },
  'GET /runs/:run/report': {
    ...read,
    id: 'getRunReport',
    summary: 'Show the report of a run: every group and node, with reasons',
    answers: { 200: anyReportSchema },
  },
  'GET /runs/:run/tree': {
    ...read,
    id: 'getRunTree',
    summary: 'Show every step and node of a run as a tree',
    answers: { 200: runTreeSchema },
  },
  'GET /runs/:run/plan': {
    ...read,
    id: 'getRunPlan',
    summary: 'Show the plan of a run',
    answers: { 200: runPlanAnswerSchema },
  },
  'GET /runs/:run/nodes': {
    ...read,
    id: 'listRunNodes',
    summary: 'List the nodes of a run on a site, as they are now',
    answers: { 200: runNodeListSchema },
  },
  'GET /runs/:run/usual': {
    ...read,
    id: 'getUsualTimes',
    summary: 'Show how long the nodes or tasks of a run took in earlier runs of its kind',
    query: usualQuery,
    answers: { 200: usualTimesSchema },
  },
  'GET /runs/:run/logs': {
    ...read,
    id: 'getRunLog',
    summary: 'Read the output of all tasks of a graph run, in order of arrival',
    query: runLogQuery,
    answers: { 200: runLogPage },
  },
  'GET /runs/:run/nodes/:node/tasks/:task/log': {
    id: 'getTaskLog',
    access: 'viewer',
    summary: 'Read the output of a task on its node, optionally live',
    description:
      'The raw output of `stream`, or of both, where each line of stderr starts with `[stderr] `; a line marks the number of dropped bytes. With `Accept: text/event-stream` events instead: `output` (`{stream, offset, text}`), `gap` (`{stream, offset, to}`), `ended` (`{outcome, message}`); the id of an event is the offset at which to resume.',
    params: runTaskParams.extend({
      node: runTaskParams.shape.node.describe('The node of the task: its id, name or host name.'),
    }),
    query: taskLogQuery,
    events: taskLogEvent,
    answers: { 200: media('text/plain', 'The output.') },
  },
  'GET /runs/:run/nodes/:node/temporal': {
    id: 'showAttemptInTemporal',
    access: 'viewer',
    summary: "Show an attempt in Temporal's Web UI: at a node of a site, or at a task on a node",
    description:
      'Leads to the event that scheduled the attempt. Searches the newest part of the histories of the run and its parts, about 50,000 events; an attempt that is not there leads to the history of the run.',
    params: runNodeParams,
    query: attemptQuery,
    answers: { 303: z.undefined().describe("`Location` is the address in Temporal's Web UI.") },
  },
  'POST /runs/:run/pause': {
    ...steer,
    id: 'pauseRun',
    summary: 'Pause a run: running work finishes, nothing new starts',
    answers: steered,
  },
  'POST /runs/:run/resume': { ...steer, id: 'resumeRun', summary: 'Resume a paused run', answers: steered },
  'POST /runs/:run/stop': {
    ...steer,
    id: 'stopRun',
    summary: 'Stop a run gracefully: running work finishes, nothing new starts, the report is written',
    answers: ending,
  },
  'POST /runs/:run/cancel': {
    ...steer,
    id: 'cancelRun',
    summary: 'Cancel a run: running work is aborted as far as MAAS can',
    answers: ending,
  },
  'POST /runs/:run/approve': {
    ...steer,
    id: 'approveRun',
    summary: 'Approve a run where it waits for approval',
    description: 'An entry of `hold_before` can also be approved before the run reaches it.',
    body: approvalBody,
    answers: steered,
  },
  'POST /runs/:run/reject': {
    ...steer,
    id: 'rejectRun',
    summary: 'Reject a run where it waits for approval; it ends as after a stop',
    body: approvalBody,
    answers: steered,
  },
  'POST /runs/:run/promote': {
    ...steer,
    id: 'promoteRollout',
    summary: 'Let a rollout of a run go on: the rest of its wave, or the next one',
    description: 'Ends a soak, or a hold. Refused while nodes of the open wave are at work.',
    body: promotionBody,
    answers: steered,
  },
  'POST /runs/:run/hold': {
    ...steer,
    id: 'holdRollout',
    summary: 'Hold a rollout of a run: its open wave ends, and no other opens',
    body: rolloutBody,
    answers: steered,
  },
  'POST /runs/:run/abort-rollout': {
    ...steer,
    id: 'abortRollout',
    summary: 'End a rollout of a run: what has started finishes, and its group fails',
    body: rolloutBody,
    answers: steered,
  },
  'POST /runs/:run/nodes/:node/retry': {
    ...steer,
    id: 'retryNode',
    summary: 'Retry a failed node of a run',
    description:
      'In a run of graphs a node whose agent did not answer before the run, or whose checks are not well: they are asked again. A failed task has a retry of its own.',
    params: runNodeParams,
    body: nodeRetryBody,
    answers: steered,
  },
  'POST /runs/:run/nodes/:node/tasks/:task/retry': {
    ...steer,
    id: 'retryTask',
    summary: 'Retry a failed task of a graph run',
    params: runTaskParams,
    answers: steered,
  },
  'POST /runs/:run/nodes/:node/tasks/:task/skip': {
    ...steer,
    id: 'skipTask',
    summary: 'Skip a task of a graph run',
    params: runTaskParams,
    answers: steered,
  },
});

import { z } from 'zod';
import { SITE_RUN_KINDS } from '../words.js';
import { graphPlansSchema, graphRunReportSchema, graphRunStatusSchema } from './graph-run.js';
import {
  actorName,
  anyJson,
  flagQuery,
  pageOf,
  pageQuery,
  reasonText,
  runDescription,
  timestamp,
} from './primitives.js';
import { runPlanSchema, runStatusSchema } from './site-run.js';
import { runReportSchema } from './site-run-report.js';
import type { Sent, Wire } from './wire.js';

export const startRunBody = z
  .strictObject({
    kind: z.enum(SITE_RUN_KINDS).describe('The workflow to start.'),
    revision: z
      .union([z.int().min(1), z.string().min(1).max(100)])
      .optional()
      .describe('A number, a hash, or `latest` (default).'),
    nodes: z
      .array(z.string().min(1).max(1000))
      .max(10_000)
      .optional()
      .describe('redeploy_nodes: the nodes to release and deploy again.'),
    erase: z.boolean().optional().describe('redeploy_nodes: also erase the disks.'),
    release_removed: z
      .boolean()
      .optional()
      .describe('update_site: also release the machines of nodes that are gone from the documents.'),
    reason: reasonText.min(1).optional(),
    started_by: actorName.optional(),
    ...runDescription,
  })
  .meta({ id: 'StartRun' });

export const operatorBody = z
  .strictObject({ reason: reasonText.optional(), by: actorName.optional() })
  .meta({ id: 'OperatorRequest' });

const run = {
  id: z.string(),
  workflow_id: z.string(),
  temporal_run_id: z.string().nullable(),
  temporal_url: z.string().nullable().describe("The run's page in Temporal's Web UI; null where none is known."),
  kind: z.string(),
  site: z.string().nullable(),
  revision: z.int().nullable(),
  title: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  phase: z.string(),
  outcome: z
    .string()
    .nullable()
    .describe(
      'Null while it goes on; then success, success_with_failures, failed, stopped, cancelled, or what Temporal did to it.',
    ),
  started_by: z.string().nullable(),
  reason: z.string().nullable(),
  started_at: timestamp,
  ended_at: timestamp.nullable(),
  failed_nodes: z.int().nullable(),
};

export const runSchema = z.strictObject(run).meta({ id: 'Run', description: 'One execution on a site.' });

export const runDetailSchema = z
  .strictObject({
    ...run,
    description: z.string().nullable().describe('What was said of it when it was started; Markdown.'),
    parameters: anyJson.describe('The input it was started with.'),
  })
  .meta({ id: 'RunDetail' });

export const runPageSchema = pageOf(runSchema).meta({ id: 'RunPage' });

/** Of a run on a site, or of a run of graphs. */
export const anyStatusSchema = z.union([runStatusSchema, graphRunStatusSchema]);
export const anyReportSchema = z.union([runReportSchema, graphRunReportSchema]);

export const runPlanAnswerSchema = z
  .strictObject({
    plan: z
      .union([runPlanSchema, graphPlansSchema])
      .nullable()
      .describe('Null until the documents are loaded. Of a run of graphs: the plans made so far.'),
  })
  .meta({ id: 'RunPlanAnswer' });

const several = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(50)]).optional();

export const siteRunsQuery = pageQuery.extend({
  kind: several.describe('Only these; may be repeated.'),
  phase: several.describe('Only runs in this phase; may be repeated.'),
  outcome: several.describe('Only runs with this outcome; may be repeated.'),
  label: several.describe('Only runs with this label, as `NAME:VALUE`; may be repeated: with all of them.'),
  started_by: z.string().min(1).max(1000).optional().describe('Only runs that this user or token started.'),
  since: timestamp.min(1).max(50).optional().describe('Only runs started at this moment or later, ISO 8601.'),
  until: timestamp.min(1).max(50).optional().describe('Only runs started before this moment, ISO 8601.'),
  open: flagQuery.optional().describe('`true`: only runs under way. `false`: only ended ones.'),
});

export const runsQuery = siteRunsQuery.extend({
  site: z.string().min(1).max(1000).optional().describe('Only runs on this site.'),
  workflow_id: z.string().min(1).max(1000).optional().describe('Only runs of the workflow with this id.'),
});

export type Run = Wire<typeof runSchema>;
export type RunDetail = Wire<typeof runDetailSchema>;
export type RunPage = Wire<typeof runPageSchema>;
export type StartRunBody = Sent<typeof startRunBody>;

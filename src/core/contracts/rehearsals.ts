import { z } from 'zod';
import { MAX } from '../run/description.ts';
import { RUN_KINDS } from '../words.ts';
import { executeBody } from './fuel/deployments.ts';
import { idParams } from './fuel/parts.ts';
import { graphRunReportSchema } from './graph-run.ts';
import { nameText, siteParams, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import { startRunBody } from './runs.ts';
import { runReportSchema } from './site-run-report.ts';
import type { Sent, Wire } from './wire.ts';

const DAY = 24 * 3600;

/** What goes wrong in a rehearsal. */
const faults = {
  fail_nodes: z.array(nameText(MAX.name)).max(1000).optional().describe('Nodes whose deployment fails in MAAS.'),
  fail_tasks: z
    .array(
      z.strictObject({
        task: nameText(MAX.name),
        node: nameText(MAX.name).optional().describe('Name or id of the node. Default: each node with the task.'),
      }),
    )
    .max(1000)
    .optional()
    .describe('Tasks that fail, at each attempt.'),
  maas_away: z
    .array(
      z.strictObject({
        seconds: z.int().min(1).max(DAY).describe('For how long.'),
        after: z.int().min(0).max(DAY).optional().describe('Seconds after the start. Default: 60.'),
      }),
    )
    .max(20)
    .optional()
    .describe('Times in which MAAS does not answer.'),
};

/** The request that starts the run, and what goes wrong: what a start takes, a rehearsal takes. */
const siteRehearsalBody = startRunBody
  .extend({
    kind: startRunBody.shape.kind.optional().describe('The run to rehearse. Default: `deploy_site`.'),
    ...faults,
  })
  .meta({ id: 'SiteRehearsal' });

const clusterRehearsalBody = executeBody
  .omit({ cluster: true })
  .extend({
    graphs: executeBody.shape.graphs.describe(
      'Graph types to run, in order. Default, without `sequence` and `from`: those with something to do, as Deploy changes runs them.',
    ),
    ...faults,
  })
  .meta({ id: 'ClusterRehearsal' });

const step = z.strictObject({
  what: z.string().describe('`prepare`, `deploy` or `release` of a machine, or the name of a task.'),
  graph: z.string().nullable().describe('Type of the graph of a task; null for a step of a machine.'),
  node: z.string(),
  from: z.number().describe('Seconds after the start.'),
  to: z.number(),
  state: z.string(),
  reason: z.string().optional(),
});

export const rehearsalSchema = z
  .strictObject({
    kind: z.enum(RUN_KINDS),
    site: z.string().nullable(),
    cluster: z.int().nullable(),
    outcome: z.string().nullable().describe('As the run would end. Null: it had not ended after 30 days.'),
    seconds: z.number().describe('How long the run would take.'),
    started_at: timestamp.describe('Midnight of an invented day: clock times of the reports count from it.'),
    events: z
      .array(z.strictObject({ at: z.number().describe('Seconds after the start.'), text: z.string() }))
      .describe('What would happen, in order.'),
    events_omitted: z.int(),
    steps: z.array(step).describe('Steps of machines and tasks, for a timeline.'),
    steps_omitted: z.int(),
    report: z.union([runReportSchema, graphRunReportSchema]).nullable(),
    software: graphRunReportSchema
      .nullable()
      .describe('Report of the graphs that the run of a site would start on its cluster.'),
    assumptions: z.array(z.string()).describe('What the rehearsal took for granted.'),
  })
  .meta({ id: 'Rehearsal', description: 'What a run would do, lived through in virtual time.' });

const description =
  'Runs the real workflows in virtual time on a copy of the stored data, with simulated machines and nodes. Nothing is stored, and neither MAAS, Temporal nor a node is asked to change anything.';

export const rehearsalRoutes = tagged('runs', {
  'POST /sites/:site/rehearsals': {
    id: 'rehearseSite',
    access: 'viewer',
    budget: 'rehearsing',
    summary: 'Rehearse a run on a site: what would happen, how long it would take, and its report',
    description,
    params: siteParams,
    body: siteRehearsalBody,
    answers: { 200: rehearsalSchema },
    also: [409],
  },
  'POST /clusters/:id/rehearsals': {
    id: 'rehearseCluster',
    access: 'viewer',
    budget: 'rehearsing',
    summary: 'Rehearse a run of graphs on a cluster: what would happen, how long it would take, and its report',
    description,
    params: idParams('cluster'),
    body: clusterRehearsalBody,
    answers: { 200: rehearsalSchema },
    also: [409],
  },
});

export type SiteRehearsalBody = Sent<typeof siteRehearsalBody>;
export type ClusterRehearsalBody = Sent<typeof clusterRehearsalBody>;
export type RehearsalStep = Wire<typeof step>;
export type Rehearsal = Wire<typeof rehearsalSchema>;

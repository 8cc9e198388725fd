import { z } from 'zod';
import { SITE_RUN_OUTCOMES } from '../../core/run/index.js';
import { PHASE_NAMES } from '../../core/site-run/index.js';
import { graphPlansSchema } from './graph-run.js';
import { listOf, timestamp } from './primitives.js';

const texts = listOf(z.string());
const state = z.enum(['not_started', 'prepared', 'success', 'failure']);
const call = z.enum(['prepare', 'deploy']);
export const phaseName = z.enum(PHASE_NAMES);
/** The first five are the run's own; the rest is what befell it in Temporal. */
export const runOutcome = z.enum(SITE_RUN_OUTCOMES);

export const nodeCounts = z.strictObject({
  not_started: z.int(),
  prepared: z.int(),
  success: z.int(),
  failure: z.int(),
});

export const runStatusSchema = z
  .strictObject({
    site: z.string(),
    phase: z.enum([...phaseName.options, 'starting', 'finished']),
    paused: z
      .strictObject({ since: timestamp, by: z.string().optional(), reason: z.string().optional() })
      .nullable()
      .describe('Null when it is not paused.'),
    stopping: z.boolean(),
    outcome: z.string().optional().describe('Absent while it goes on.'),
    done: z.int().describe('Nodes that came to their end.'),
    total: z.int().describe('Nodes of the run.'),
    counts: nodeCounts,
    failed: listOf(z.strictObject({ node: z.string(), group: z.string().optional(), reason: z.string() })).describe(
      'At most twenty; the report has all.',
    ),
    current: z
      .strictObject({ group: z.string(), call, running: texts, waiting: z.int() })
      .nullable()
      .describe('What is being done now.'),
    groups: listOf(z.strictObject({ name: z.string(), critical: z.boolean(), state, reason: z.string().optional() })),
  })
  .meta({ id: 'RunStatus', description: 'How far a run is; small enough to ask every second.' });

/** Recursive, so it is written down by hand; the schema below says the same. */
export interface RunTreeAnswer {
  readonly name: string;
  readonly kind: 'run' | 'phase' | 'group' | 'call' | 'node' | 'graph' | 'part' | 'task';
  readonly state: string;
  readonly detail?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly children?: readonly RunTreeAnswer[] | undefined;
}

export const runTreeSchema: z.ZodType<RunTreeAnswer, RunTreeAnswer> = z
  .strictObject({
    name: z.string(),
    kind: z.enum(['run', 'phase', 'group', 'call', 'node', 'graph', 'part', 'task']),
    state: z.string(),
    detail: z.string().optional(),
    workflow_id: z
      .string()
      .optional()
      .describe('Of a part: the workflow that answers the query `tree` with its nodes.'),
    get children() {
      return listOf(runTreeSchema).optional();
    },
  })
  .meta({ id: 'RunTree', description: 'Every step and node; children in the order they happened.' }) as never;

export const successCriteria = z.strictObject({
  percent_successful_nodes: z.number().optional(),
  minimum_successful_nodes: z.number().optional(),
  maximum_failed_nodes: z.number().optional(),
});

const ranges = listOf(z.int()).describe('Indexes into `nodes` as first, last, first, last …');
const pace = z.strictObject({ interval: z.number(), timeout: z.number() }).describe('Seconds.');

export const runPlanSchema = z
  .strictObject({
    site: z.string(),
    revision: z.int(),
    hash: z.string(),
    nodes: texts,
    groups: listOf(
      z.strictObject({
        name: z.string(),
        critical: z.boolean(),
        depends_on: texts,
        nodes: ranges,
        success_criteria: successCriteria.optional(),
      }),
    ),
    pace: z.strictObject({
      verify_site: pace,
      prepare_site: pace,
      prepare: pace,
      deploy: pace,
      release: pace,
      max_parallel_nodes: z.int(),
      heartbeat_seconds: z.number(),
    }),
    done: ranges.describe('update_site: unchanged and deployed already. Indexes as in the groups.'),
    removed: texts.describe('update_site: in the last good revision, but no longer in this one.'),
    warnings: texts,
  })
  .meta({ id: 'RunPlan', description: 'What a run set out to do.' });

export const runPlanAnswerSchema = z
  .strictObject({
    plan: z
      .union([runPlanSchema, graphPlansSchema])
      .nullable()
      .describe('Null until the documents are loaded. Of a run of graphs: the plans made so far.'),
  })
  .meta({ id: 'RunPlanAnswer' });

export type RunStatusAnswer = z.output<typeof runStatusSchema>;
export type RunPlanAnswer = z.output<typeof runPlanAnswerSchema>;

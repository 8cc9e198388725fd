import { z } from 'zod';
import { CALLS, LOST_OUTCOMES, NODE_STATES, PHASE_NAMES, SITE_RUN_OUTCOMES } from '../words.js';
import { timestamp } from './primitives.js';
import type { Wire } from './wire.js';

const texts = z.array(z.string());

export const nodeCounts = z.strictObject({
  not_started: z.int(),
  prepared: z.int(),
  success: z.int(),
  failure: z.int(),
});

export const pausedSchema = z
  .strictObject({ since: timestamp, by: z.string().optional(), reason: z.string().optional() })
  .nullable()
  .describe('Null when it is not paused.');

export const maasSilentSince = timestamp
  .optional()
  .describe('Since when MAAS has not answered the steps of the run that ask it. Absent while it answers.');

export const runStatusSchema = z
  .strictObject({
    site: z.string(),
    phase: z.enum([...PHASE_NAMES, 'starting', 'finished']),
    paused: pausedSchema,
    stopping: z.boolean(),
    maas_silent_since: maasSilentSince,
    outcome: z
      .enum([...SITE_RUN_OUTCOMES, ...LOST_OUTCOMES])
      .optional()
      .describe('Absent while it goes on.'),
    done: z.int().describe('Nodes that have ended.'),
    total: z.int().describe('Nodes of the run.'),
    counts: nodeCounts,
    failed: z
      .array(z.strictObject({ node: z.string(), group: z.string().optional(), reason: z.string() }))
      .describe('At most twenty; the report has all.'),
    current: z
      .strictObject({ group: z.string(), call: z.enum(CALLS), running: texts, waiting: z.int() })
      .nullable()
      .describe('What is being done now.'),
    groups: z.array(
      z.strictObject({
        name: z.string(),
        critical: z.boolean(),
        state: z.enum(NODE_STATES),
        reason: z.string().optional(),
      }),
    ),
    warnings: texts.describe('What an operator should know, as in the report; the newest twenty.'),
  })
  .meta({ id: 'RunStatus', description: 'How far a run is; small enough to ask every second.' });

/** Since when, by whom and why a run is paused. */
export type Paused = NonNullable<Wire<typeof pausedSchema>>;
/** Answer of the query `status`, and of the updates `pause` and `resume`. */
export type RunStatus = Wire<typeof runStatusSchema>;

export const runTreeSchema = z
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
      return z.array(runTreeSchema).optional();
    },
  })
  .meta({ id: 'RunTree', description: 'Every step and node; children in the order they happened.' });

/** Answer of the query `tree`. */
export type TreeNode = Wire<typeof runTreeSchema>;

export const successCriteria = z.strictObject({
  percent_successful_nodes: z.number().optional(),
  minimum_successful_nodes: z.number().optional(),
  maximum_failed_nodes: z.number().optional(),
});

const ranges = z.array(z.int()).describe('Indexes into `nodes` as first, last, first, last …');
const pace = z.strictObject({ interval: z.number(), timeout: z.number() }).describe('Seconds.');

const group = z.strictObject({
  name: z.string(),
  critical: z.boolean(),
  depends_on: texts,
  nodes: ranges,
  success_criteria: successCriteria.optional(),
});

const sitePace = z.strictObject({
  verify_site: pace,
  prepare_site: pace,
  prepare: pace,
  deploy: pace,
  release: pace,
  max_parallel_nodes: z.int(),
  heartbeat_seconds: z.number(),
});

export const runPlanSchema = z
  .strictObject({
    site: z.string(),
    revision: z.int(),
    hash: z.string(),
    nodes: texts,
    groups: z.array(group),
    pace: sitePace,
    done: ranges.describe('update_site: unchanged and deployed already. Indexes as in the groups.'),
    removed: texts.describe('update_site: in the last good revision, but no longer in this one.'),
    cluster: z
      .int()
      .optional()
      .describe('Id of the linked cluster: its graph `default` is executed once the nodes are deployed.'),
    warnings: texts,
  })
  .meta({ id: 'RunPlan', description: 'What a run set out to do.' });

/** How long one kind of call may take and how often it looks; seconds, from the site's DeploymentConfiguration. */
export type Pace = Wire<typeof pace>;
export type SitePace = Wire<typeof sitePace>;
export type GroupWire = Wire<typeof group>;
/** What a site's workflow is given: names and numbers; the nodes' documents stay in the store. */
export type SitePlan = Wire<typeof runPlanSchema>;
/** Each given criterion is judged alone; all must hold. None given: nothing is checked. Percent: 0 to 100. */
export type SuccessCriteria = Wire<typeof successCriteria>;

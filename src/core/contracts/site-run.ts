import { z } from 'zod';
import { CALLS, LATE_PACES, LOST_OUTCOMES, NODE_STATES, NODE_STEPS, PHASE_NAMES, SITE_RUN_OUTCOMES } from '../words.ts';
import { runStanding } from './approval.ts';
import { graphRunStatusSchema } from './graph-run.ts';
import { maintenanceSchema, timestamp } from './primitives.ts';
import { rolloutStatus } from './rollout.ts';
import type { Wire } from './wire.ts';

const texts = z.array(z.string());

export const nodeCounts = z.record(z.enum(NODE_STATES), z.int()).describe('Nodes by state.');

const softwareStatus = graphRunStatusSchema
  .pick({ phase: true, done: true, total: true, counts: true, failing_nodes: true, running: true, silent: true })
  .extend({ workflow_id: z.string() });

export const stepTimeSchema = z
  .strictObject({
    model: z.string().optional().describe('Of the hardware. Absent: of machines whose hardware MAAS does not know.'),
    step: z.enum(CALLS),
    median: z.number().describe('Seconds.'),
    p99: z.number().describe('Seconds; 99 of 100 took no longer.'),
    count: z.int().describe('How many earlier steps tell.'),
  })
  .meta({ id: 'StepTime', description: 'How long a step of deployments took in earlier runs of all sites.' });

/** How long a step took on machines of one model. */
export type StepTime = Wire<typeof stepTimeSchema>;

const lateNode = stepTimeSchema.extend({
  node: z.string(),
  pace: z
    .enum(LATE_PACES)
    .describe('`slow`: longer than 99 of 100 took. `stuck`: at least twice that, and a minute more.'),
  since: timestamp.describe('When the step began.'),
  said: z.string().optional().describe('The state of its machine, as MAAS last said it.'),
});

export const runStatusSchema = z
  .strictObject({
    site: z.string(),
    phase: z.enum([...PHASE_NAMES, 'starting', 'finished']),
    ...runStanding,
    outcome: z
      .enum([...SITE_RUN_OUTCOMES, ...LOST_OUTCOMES])
      .optional()
      .describe('Absent until the run ends.'),
    done: z.int().describe('Nodes that have ended.'),
    total: z.int().describe('Nodes of the run.'),
    counts: nodeCounts,
    failed: z
      .array(z.strictObject({ node: z.string(), group: z.string().optional(), reason: z.string() }))
      .describe('At most twenty; the report lists all.'),
    current: z
      .strictObject({ group: z.string(), call: z.enum(NODE_STEPS), running: texts, waiting: z.int() })
      .nullable()
      .describe('The current step.'),
    late: z
      .array(lateNode)
      .optional()
      .describe(
        'Nodes whose step takes longer than it should by earlier runs, at most twenty; absent if there are none.',
      ),
    software: softwareStatus.nullable().describe('The graph run that ends this run; null until it starts.'),
    groups: z.array(
      z.strictObject({
        name: z.string(),
        critical: z.boolean(),
        state: z.enum(NODE_STATES),
        reason: z.string().optional(),
        rollout: rolloutStatus.optional().describe('Absent if the group has none.'),
      }),
    ),
    warnings: texts.describe('Warnings for the operator, as in the report; the newest twenty.'),
  })
  .meta({ id: 'RunStatus', description: 'Progress of a run; small enough to poll every second.' });

/** Report of a graph run to the site run that started it. */
export type GraphRunNews = Omit<Wire<typeof softwareStatus>, 'workflow_id'>;
/** Answer of the query `status`, and of the updates `pause` and `resume`. */
export type RunStatus = Wire<typeof runStatusSchema>;
/** A node whose step takes longer than earlier ones took. */
export type LateNode = Wire<typeof lateNode>;

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
  .meta({ id: 'RunTree', description: 'Every step and node; children in chronological order.' });

/** Answer of the query `tree`. */
export type TreeNode = Wire<typeof runTreeSchema>;

const successCriteria = z.strictObject({
  percent_successful_nodes: z.number().optional(),
  minimum_successful_nodes: z.number().optional(),
  maximum_failed_nodes: z.number().optional(),
});

const ranges = z.array(z.int()).describe('Indexes into `nodes` as first, last, first, last …');
const pace = z.strictObject({ interval: z.number(), timeout: z.number() }).describe('Seconds.');

const amount = z.union([z.int(), z.string()]);

const rolloutWire = z.strictObject({
  first: amount,
  growth: z.union([z.enum(['all', 'double']), z.strictObject({ add: amount }), z.strictObject({ by: amount })]),
  soak: z.int().describe('Seconds.'),
  stop_at: z.union([z.strictObject({ failed: z.int() }), z.strictObject({ percent: z.int() })]),
  order: ranges,
  checks: texts.optional(),
});

const groupWire = z.strictObject({
  name: z.string(),
  critical: z.boolean(),
  depends_on: texts,
  nodes: ranges,
  success_criteria: successCriteria.optional(),
  rollout: rolloutWire.optional(),
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

const sitePlan = z.strictObject({
  site: z.string(),
  revision: z.int(),
  hash: z.string(),
  commit: z.string().optional().describe('The commit that the revision comes from.'),
  commit_url: z.string().optional().describe('Its page.'),
  nodes: texts,
  groups: z.array(groupWire),
  pace: sitePace,
  done: ranges,
  removed: texts.describe('update_site: in the last good revision, but no longer in this one.'),
  cluster: z
    .int()
    .optional()
    .describe('Id of the linked cluster, whose graph `default` runs after the nodes are deployed.'),
  maintenance: z
    .array(maintenanceSchema.extend({ node: z.string() }))
    .optional()
    .describe('Nodes that the run leaves out, because people work on them; absent if there are none.'),
  limits: z
    .strictObject({
      at_a_time: z
        .int()
        .describe('So many of the nodes could be changed at a time when the plan was made, beside nothing else.'),
    })
    .optional()
    .describe('The run asks for permits before it touches machines; absent if no documents limit it.'),
  checks: z
    .array(
      z.strictObject({
        name: z.string(),
        each: z.enum(['node', 'wave']).describe('Whether it is asked for each node, or once.'),
        seconds: z.number().describe('After so long it has a verdict.'),
      }),
    )
    .optional()
    .describe('The checks of its rollouts; absent if there are none.'),
  warnings: texts,
});

const total = z.int().describe('Number of nodes; very long lists of names are truncated.');

export const runPlanSchema = sitePlan
  .extend({
    total,
    groups: z.array(groupWire.extend({ nodes: texts.describe('Their names.'), total })),
    done: texts.describe('update_site: unchanged and already deployed.'),
  })
  .meta({ id: 'RunPlan', description: 'The plan of a run.' });

/** How long one kind of call may take and how often it looks; seconds, from the site's DeploymentConfiguration. */
export type Pace = Wire<typeof pace>;
export type SitePace = Wire<typeof sitePace>;
export type GroupWire = Wire<typeof groupWire>;
/** Plan for a site's workflow: names and numbers; the nodes' documents stay in the store. */
export type SitePlan = Wire<typeof sitePlan>;
/** Answer of the query `plan`. */
export type ShownPlan = Wire<typeof runPlanSchema>;
/** Each given criterion is judged alone; all must hold. None given: nothing is checked. Percent: 0 to 100. */
export type SuccessCriteria = Wire<typeof successCriteria>;

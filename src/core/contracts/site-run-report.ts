import { z } from 'zod';
import { CHECK_VERDICTS } from '../checks/judge.ts';
import type { GroupFailure } from '../deployment/failures.ts';
import type { RunFailure } from '../site-run/failure.ts';
import {
  CALLS,
  LOST_OUTCOMES,
  NODE_STATES,
  NODE_STEPS,
  PHASE_NAMES,
  PHASE_STATES,
  SITE_RUN_ACTIONS,
  SITE_RUN_KINDS,
  SITE_RUN_OUTCOMES,
} from '../words.ts';
import { holdReports } from './approval.ts';
import { keptResultSchema } from './checks.ts';
import { maintenanceSchema, timestamp } from './primitives.ts';
import { checkResult, rolloutPolicy, rolloutStatus } from './rollout.ts';
import { nodeCounts } from './site-run.ts';
import { failureOf, type Wire } from './wire.ts';

const texts = z.array(z.string());
const state = z.enum(NODE_STATES);
const call = z.enum(CALLS);

const phaseReport = z.strictObject({
  name: z.enum(PHASE_NAMES),
  state: z.enum(PHASE_STATES),
  started_at: timestamp,
  ended_at: timestamp.optional(),
  /** Why it was skipped or failed, or its finding. */
  detail: z.string().optional(),
});

const operatorAction = z.strictObject({
  action: z.enum(SITE_RUN_ACTIONS),
  at: timestamp,
  by: z.string().optional(),
  reason: z.string().optional(),
  node: z.string().optional(),
  before: z.string().optional(),
  group: z.string().optional().describe('Of requests to a rollout. Absent: all for which it had an effect.'),
  limit: z.int().optional(),
  recheck: z.boolean().optional(),
  entry: z.string().optional().describe('Its entry in the audit trail. Absent: no API has verified the name.'),
});

export const nodeReportSchema = z
  .strictObject({
    name: z.string(),
    state,
    running: z.enum(NODE_STEPS).optional(),
    group: z.string().optional(),
    system_id: z.string().optional(),
    model: z.string().optional().describe('Vendor and product of its hardware, where MAAS knows them.'),
    attempts: z.int(),
    started_at: timestamp.optional(),
    prepared_at: timestamp.optional().describe('When its preparation had succeeded.'),
    deploying_at: timestamp.optional().describe('When its deployment began.'),
    ended_at: timestamp.optional(),
    failed_in: call.optional(),
    failure_kind: z.string().optional(),
    reason: z.string().optional(),
    hint: z.string().optional(),
    warnings: texts.optional(),
    late: z
      .strictObject({
        call,
        ok: z.boolean(),
        at: timestamp,
        message: z.string(),
        open: z.literal(true).optional().describe('MAAS may still do what the call asked for.'),
      })
      .optional()
      .describe('A result that arrived after its call had timed out; it had no effect.'),
  })
  .meta({ id: 'NodeReport' });

const verdict = z.strictObject({
  call,
  criterion: z.enum(['percent_successful_nodes', 'minimum_successful_nodes', 'maximum_failed_nodes']),
  wanted: z.number(),
  actual: z.number(),
  met: z.boolean(),
  text: z.string(),
});

export const groupReportSchema = z
  .strictObject({
    name: z.string(),
    critical: z.boolean(),
    state,
    depends_on: texts,
    nodes: texts,
    counts: nodeCounts,
    failure: failureOf<GroupFailure>().optional(),
    reason: z.string().optional().describe('The failure in one sentence.'),
    criteria: z.array(verdict),
    rollout: rolloutStatus
      .extend({ policy: rolloutPolicy.optional() })
      .optional()
      .describe('Absent if the group has none.'),
    calls: z.array(
      z.strictObject({
        call,
        nodes: z.int(),
        started_at: timestamp,
        ended_at: timestamp.optional(),
        timed_out: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'GroupReport' });

const checkReport = checkResult.extend({
  unwell: z
    .array(z.strictObject({ node: z.string(), verdict: z.enum(CHECK_VERDICTS), text: z.string() }))
    .optional()
    .describe('The first hundred nodes for which it is not well; absent if it is asked once for all.'),
});

const baremetalReport = z.strictObject({
  /** In document order. */
  groups: z.array(groupReportSchema),
  nodes: z.array(nodeReportSchema),
  /** All states are always there, also with none in them. */
  nodes_by_state: z.record(z.enum(NODE_STATES), texts),
  order: texts,
  processed: texts,
  critical_failures: texts,
  halts: z.boolean(),
});

export const runReportSchema = z
  .strictObject({
    kind: z.enum(SITE_RUN_KINDS),
    site: z.string(),
    workflow_id: z.string(),
    run_id: z.string(),
    revision: z.int().optional(),
    hash: z.string().optional(),
    commit: z.string().optional().describe('The commit that the revision comes from.'),
    commit_url: z.string().optional().describe('Its page.'),
    outcome: z
      .enum([...SITE_RUN_OUTCOMES, ...LOST_OUTCOMES])
      .optional()
      .describe('Absent until the run ends.'),
    failure: failureOf<RunFailure>().optional(),
    reason: z.string().optional().describe('The failure in one sentence.'),
    next_step: z.string().optional().describe('The next step.'),
    started_at: timestamp,
    ended_at: timestamp.optional(),
    started_by: z.string().optional(),
    holds: holdReports,
    phases: z.array(phaseReport),
    baremetal: baremetalReport.optional(),
    /** redeploy_nodes and update_site: results of released nodes. */
    released: z.array(nodeReportSchema).optional(),
    /** test_site: what came of the checks. */
    checks: z.array(checkReport).optional(),
    check_results: z
      .array(keptResultSchema)
      .optional()
      .describe('What came of its checks last, for each node: absent until it ends, and if it has asked none.'),
    /** update_site: nodes that the last good revision had and this one has not. */
    removed_nodes: texts.optional(),
    maintenance: z
      .array(maintenanceSchema.extend({ node: z.string() }))
      .optional()
      .describe('Nodes that the run left out, because people worked on them: no group counts them.'),
    limits: z
      .strictObject({
        at_a_time: z
          .int()
          .optional()
          .describe(
            'So many of its nodes could be changed at a time, beside nothing else. Absent: it was lost before it showed that.',
          ),
        waited_seconds: z.int().optional().describe('How long it has waited for permits. Absent as `at_a_time`.'),
        overridden: z.string().optional().describe('Why it went beyond the limits; absent: it did not.'),
      })
      .optional()
      .describe('What the limits of the site meant for the run; absent if it has none.'),
    operator: z.array(operatorAction),
    warnings: texts,
    cut: z
      .strictObject({
        nodes_omitted: z.int(),
        members: z
          .array(z.array(z.int()))
          .describe('For each group the positions of its nodes in the plan, as ranges: first, last, first, last …'),
      })
      .optional()
      .describe('Set if the report of an open run lists only some of its nodes; the final report lists all.'),
  })
  .meta({ id: 'RunReport', description: 'Report on every group and node.' });

export type PhaseReport = Wire<typeof phaseReport>;
export type NodeReport = Wire<typeof nodeReportSchema>;
export type CheckReport = Wire<typeof checkReport>;
export type GroupReport = Wire<typeof groupReportSchema>;
/** Results of every group and node of a baremetal step, with reasons. */
export type BaremetalReport = Wire<typeof baremetalReport>;
/** Something an operator did to the run. */
export type SiteOperatorAction = Wire<typeof operatorAction>;
/** Report of a run on every group and node. */
export type RunReport = Wire<typeof runReportSchema>;

import { z } from 'zod';
import { SITE_RUN_ACTIONS } from '../../core/run/index.js';
import { PHASE_STATES } from '../../core/site-run/index.js';
import { listOf, timestamp } from './primitives.js';
import { nodeCounts, phaseName } from './run-status.js';

const texts = listOf(z.string());
const state = z.enum(['not_started', 'prepared', 'success', 'failure']);
const call = z.enum(['prepare', 'deploy']);

/** Failures differ by `kind`; what else they carry belongs to the kind. */
const failure = z.looseObject({ kind: z.string() }).describe('Its kind, and what belongs to that kind.');

const phaseReport = z.strictObject({
  name: phaseName,
  state: z.enum(PHASE_STATES),
  started_at: timestamp,
  ended_at: timestamp.optional(),
  detail: z.string().optional(),
});

const operatorAction = z.strictObject({
  action: z.enum(SITE_RUN_ACTIONS),
  at: timestamp,
  by: z.string().optional(),
  reason: z.string().optional(),
  node: z.string().optional(),
});

const nodeReport = z
  .strictObject({
    name: z.string(),
    state,
    running: call.optional(),
    group: z.string().optional(),
    system_id: z.string().optional(),
    attempts: z.int(),
    started_at: timestamp.optional(),
    ended_at: timestamp.optional(),
    failed_in: call.optional(),
    failure_kind: z.string().optional(),
    reason: z.string().optional(),
    hint: z.string().optional(),
    warnings: texts.optional(),
    late: z
      .strictObject({ call, ok: z.boolean(), at: timestamp, message: z.string() })
      .optional()
      .describe('A result that came after its call had timed out; it changed nothing.'),
  })
  .meta({ id: 'NodeReport' });

const groupReport = z
  .strictObject({
    name: z.string(),
    critical: z.boolean(),
    state,
    depends_on: texts,
    nodes: texts,
    counts: nodeCounts,
    failure: failure.optional(),
    reason: z.string().optional().describe('The failure in one sentence.'),
    criteria: listOf(
      z.strictObject({
        call,
        criterion: z.enum(['percent_successful_nodes', 'minimum_successful_nodes', 'maximum_failed_nodes']),
        wanted: z.number(),
        actual: z.number(),
        met: z.boolean(),
        text: z.string(),
      }),
    ),
    calls: listOf(
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

const baremetalReport = z.strictObject({
  groups: listOf(groupReport),
  nodes: listOf(nodeReport),
  nodes_by_state: z.strictObject({ not_started: texts, prepared: texts, success: texts, failure: texts }),
  order: texts,
  processed: texts,
  critical_failures: texts,
  halts: z.boolean(),
});

export const runReportSchema = z
  .strictObject({
    kind: z.string(),
    site: z.string(),
    workflow_id: z.string(),
    run_id: z.string(),
    revision: z.int().optional(),
    hash: z.string().optional(),
    outcome: z.string().optional().describe('Absent while it goes on.'),
    failure: failure.optional(),
    reason: z.string().optional().describe('The failure in one sentence.'),
    next_step: z.string().optional().describe('What to do about it.'),
    started_at: timestamp,
    ended_at: timestamp.optional(),
    started_by: z.string().optional(),
    phases: listOf(phaseReport),
    baremetal: baremetalReport.optional(),
    released: listOf(nodeReport).optional(),
    removed_nodes: texts.optional(),
    operator: listOf(operatorAction),
    warnings: texts,
    cut: z
      .strictObject({ nodes_omitted: z.int() })
      .optional()
      .describe('Set when a run under way told only part of its nodes; the report after its end has all.'),
  })
  .meta({ id: 'RunReport', description: 'What happened to every group and node, and why.' });

export type RunReportAnswer = z.output<typeof runReportSchema>;

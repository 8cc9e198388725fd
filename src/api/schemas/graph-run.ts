import { z } from 'zod';
import { GRAPH_RUN_ACTIONS } from '../../core/run/index.js';
import { listOf, timestamp } from './primitives.js';

const counts = z.record(z.string(), z.int()).describe('Tasks by status.');

const texts = listOf(z.string());

const failedTask = z.strictObject({ task: z.string(), node: z.string(), attempts: z.int(), reason: z.string() });

const failedNode = z.strictObject({
  node: z.string(),
  failed_tasks: texts.describe('Its own failed tasks, at most ten.'),
  lost_tasks: z.int().describe('Tasks lost with something else.'),
  root_causes: texts.describe('`task@node`, or `offline:NODE`; at most eight.'),
});

const operatorAction = z.strictObject({
  action: z.enum(GRAPH_RUN_ACTIONS),
  at: timestamp,
  by: z.string().optional(),
  reason: z.string().optional(),
  task: z.string().optional(),
});

const graph = {
  type: z.string(),
  transaction: z.int(),
  state: z.string(),
  done: z.int(),
  total: z.int(),
  counts,
  nodes: z.int(),
  failing_nodes: z.int(),
  parts: z.int(),
  offline: listOf(z.string()),
  started_at: timestamp.optional(),
  ended_at: timestamp.optional(),
  reason: z.string().optional(),
};

export const graphRunStatusSchema = z
  .strictObject({
    cluster: z.int(),
    transaction: z.int().nullable(),
    phase: z.string(),
    paused: z
      .strictObject({ since: timestamp, by: z.string().optional(), reason: z.string().optional() })
      .nullable()
      .describe('Null when it is not paused.'),
    stopping: z.boolean(),
    outcome: z.string().optional().describe('Absent while it goes on.'),
    done: z.int().describe('Tasks that came to their end.'),
    total: z.int().describe('Tasks planned so far.'),
    counts,
    failed: listOf(failedTask).describe('At most twenty; the report has more.'),
    failing_nodes: z.int(),
    running: listOf(z.string()).describe('`task@node`; at most twenty.'),
    silent: listOf(z.string()).describe('Nodes whose agents do not answer and for which a task waits.'),
    graphs: listOf(z.strictObject(graph)),
  })
  .meta({ id: 'GraphRunStatus', description: 'How far a run of graphs is; small enough to ask every second.' });

export const graphRunReportSchema = z
  .strictObject({
    cluster: z.int(),
    transaction: z.int().nullable(),
    workflow_id: z.string(),
    run_id: z.string(),
    mode: z.enum(['apply', 'dry_run', 'noop_run']),
    outcome: z.string().optional(),
    failure: z
      .object({ kind: z.string() })
      .optional()
      .describe('Why it failed: its kind, and the fields of that kind.'),
    reason: z.string().optional(),
    next_step: z.string().optional(),
    started_at: timestamp,
    ended_at: timestamp.optional(),
    started_by: z.string().optional(),
    graphs: listOf(
      z.strictObject({
        ...graph,
        plan: z.string().optional().describe('Hash of the plan.'),
        failed_tasks: listOf(failedTask),
        failed_nodes: listOf(failedNode),
      }),
    ),
    operator: listOf(operatorAction),
    warnings: texts,
    cut: z
      .strictObject({ failed_omitted: z.int() })
      .optional()
      .describe('Set when lists were cut: the history of the transactions has all.'),
  })
  .meta({ id: 'GraphRunReport', description: 'What happened in a run of graphs, and why.' });

export const graphPlansSchema = listOf(
  z.object({ type: z.string(), hash: z.string(), tasks: z.int(), nodes: z.int() }),
).meta({ id: 'GraphPlans', description: 'The plans of the graphs of a run, as far as they are made.' });

export type GraphRunStatusAnswer = z.output<typeof graphRunStatusSchema>;
export type GraphRunReportAnswer = z.output<typeof graphRunReportSchema>;

import { z } from 'zod';
import type { GraphRunFailure } from '../graph-run/index.ts';
import {
  GRAPH_RUN_ACTIONS,
  GRAPH_RUN_MODES,
  GRAPH_RUN_OUTCOMES,
  GRAPH_STATES,
  LOST_OUTCOMES,
  TASK_STATUSES,
} from '../words.ts';
import { holdReports, runStanding } from './approval.ts';
import { timestamp } from './primitives.ts';
import { failureOf, type Wire } from './wire.ts';

/** How many tasks are in which state; those that may start at once count as waiting. */
export const taskCounts = z.record(z.enum(TASK_STATUSES), z.int()).describe('Tasks by status.');

/** The same without those of which there are none. */
export const someTaskCounts = z.partialRecord(z.enum(TASK_STATUSES), z.int()).describe('Tasks by status.');

const texts = z.array(z.string());

const failedTask = z.strictObject({ task: z.string(), node: z.string(), attempts: z.int(), reason: z.string() });

const failedNode = z.strictObject({
  node: z.string(),
  failed_tasks: texts.describe('Its own failed tasks, at most ten.'),
  lost_tasks: z.int().describe('Tasks with work that did not run because something else failed.'),
  root_causes: texts.describe('`task@node`, or `offline:NODE`; at most eight.'),
});

const operatorAction = z.strictObject({
  action: z.enum(GRAPH_RUN_ACTIONS),
  at: timestamp,
  by: z.string().optional(),
  reason: z.string().optional(),
  /** `task@node`. */
  task: z.string().optional(),
  before: z.string().optional(),
});

const nothingToDo = z
  .array(z.strictObject({ reason: z.string(), count: z.int() }))
  .describe('Why no task has any work, with the number of nodes or tasks.');
export type NothingToDo = Wire<typeof nothingToDo>;

const graphStatus = z.strictObject({
  type: z.string(),
  transaction: z.int(),
  state: z.enum(GRAPH_STATES),
  done: z.int().describe('Tasks that ran to an end.'),
  total: z.int().describe('Tasks with work, as far as planned; those skipped are not among them.'),
  counts: taskCounts,
  nodes: z.int(),
  failing_nodes: z.int().describe('Nodes on which a task failed, or whose agents did not answer.'),
  parts: z.int(),
  offline: texts,
  started_at: timestamp.optional(),
  ended_at: timestamp.optional(),
  reason: z.string().optional(),
});

export const graphRunStatusSchema = z
  .strictObject({
    cluster: z.int(),
    transaction: z.int().nullable(),
    /**
     * Type of the graph that is under way and what it does (`default: running`, `default: closing`), or whose turn is next
     * (`default: waiting`); before there is any `starting`, behind the last one `closing`, at the end `finished`.
     */
    phase: z.string(),
    ...runStanding,
    outcome: z
      .enum([...GRAPH_RUN_OUTCOMES, ...LOST_OUTCOMES])
      .optional()
      .describe('Absent while it goes on.'),
    done: graphStatus.shape.done,
    total: graphStatus.shape.total,
    counts: taskCounts,
    failed: z.array(failedTask).describe('At most twenty; the report has more.'),
    failing_nodes: graphStatus.shape.failing_nodes,
    running: texts.describe('`task@node`; at most twenty.'),
    silent: texts.describe('Nodes whose agents do not answer, at most twenty.'),
    graphs: z.array(graphStatus),
    warnings: texts.describe('What an operator should know, as in the report; the newest twenty.'),
  })
  .meta({ id: 'GraphRunStatus', description: 'How far a run of graphs is; small enough to ask every second.' });

const graphReport = graphStatus.extend({
  plan: z.string().optional().describe('Hash of the plan.'),
  /** Failing first, with the reason of the last attempt. */
  failed_tasks: z.array(failedTask),
  /** Once the graph has ended: nodes that did not come through, those where it began first. */
  failed_nodes: z.array(failedNode),
  nothing_to_do: nothingToDo.optional(),
});

export const graphRunReportSchema = z
  .strictObject({
    cluster: z.int(),
    transaction: z.int().nullable(),
    workflow_id: z.string(),
    run_id: z.string(),
    mode: z.enum(GRAPH_RUN_MODES),
    outcome: z.enum([...GRAPH_RUN_OUTCOMES, ...LOST_OUTCOMES]).optional(),
    failure: failureOf<GraphRunFailure>().optional(),
    reason: z.string().optional(),
    next_step: z.string().optional(),
    started_at: timestamp,
    ended_at: timestamp.optional(),
    started_by: z.string().optional(),
    holds: holdReports,
    graphs: z.array(graphReport),
    operator: z.array(operatorAction),
    warnings: texts,
    cut: z
      .strictObject({ failed_omitted: z.int() })
      .optional()
      .describe('Set when lists were cut: the history of the transactions has all.'),
  })
  .meta({ id: 'GraphRunReport', description: 'What happened in a run of graphs, and why.' });

const planReference = z.strictObject({
  hash: z.string().describe('Of the stored plan.'),
  tasks: z.int(),
  nodes: z.int(),
  mode: z.enum(GRAPH_RUN_MODES),
  parts: z
    .array(z.strictObject({ chunks: z.int(), tasks: z.int(), skipped: z.int(), nodes: z.int() }))
    .describe('What the plan is cut into for execution, and in how many pieces each part is loaded.'),
  coordination: z
    .strictObject({ chunks: z.int() })
    .nullable()
    .describe('Of the coordinator of the parts; null for one part.'),
  nothing_to_do: nothingToDo.optional().describe('Only if no task has any work: why.'),
  warnings: texts,
});

export const graphPlansSchema = z
  .array(planReference.extend({ type: z.string() }))
  .meta({ id: 'GraphPlans', description: 'The plans of the graphs of a run, as far as they are made.' });

/** A stored plan, cut for execution. Pieces are loaded with `load_graph_part`. */
export type PlanReference = Wire<typeof planReference>;
/** A failed task and why. */
export type FailedTask = Wire<typeof failedTask>;
/** A node that did not come through, and what that goes back to. */
export type FailedNode = Wire<typeof failedNode>;
/** Something an operator did to a run of graphs. */
export type GraphOperatorAction = Wire<typeof operatorAction>;
export type GraphStatus = Wire<typeof graphStatus>;
export type GraphReport = Wire<typeof graphReport>;
/** Answer of the query `status` and of the updates of a run of graphs. */
export type GraphRunStatus = Wire<typeof graphRunStatusSchema>;
export type GraphRunReport = Wire<typeof graphRunReportSchema>;

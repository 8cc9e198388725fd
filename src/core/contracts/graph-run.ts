import { z } from 'zod';
import type { GraphRunFailure } from '../graph-run/failure.ts';
import {
  GRAPH_RUN_ACTIONS,
  GRAPH_RUN_MODES,
  GRAPH_RUN_OUTCOMES,
  GRAPH_STATES,
  LOST_OUTCOMES,
  TASK_STATUSES,
} from '../words.ts';
import { holdReports, runStanding } from './approval.ts';
import { keptResultSchema } from './checks.ts';
import { anyJson, rootCause, taskOnNode, timestamp } from './primitives.ts';
import { rolloutPolicy, rolloutStatus } from './rollout.ts';
import { failureOf, type Wire } from './wire.ts';

/** Number of tasks by state; those that may start immediately count as waiting. */
export const taskCounts = z.record(z.enum(TASK_STATUSES), z.int()).describe('Tasks by status.');

/** Statuses of tasks in a query, with commas between. */
export const taskStatusList = z
  .string()
  .max(1000)
  .regex(new RegExp(`^(${TASK_STATUSES.join('|')})(,(${TASK_STATUSES.join('|')}))*$`), {
    error: `must be of ${TASK_STATUSES.join(', ')}, with commas between`,
  })
  .optional()
  .describe(`Only these of ${TASK_STATUSES.join(', ')}, with commas between.`);

/** The same without those of which there are none. */
export const someTaskCounts = z.partialRecord(z.enum(TASK_STATUSES), z.int()).describe('Tasks by status.');

const texts = z.array(z.string());

const failedTask = z.strictObject({ task: z.string(), node: z.string(), attempts: z.int(), reason: z.string() });

const failedNode = z.strictObject({
  node: z.string(),
  failed_tasks: texts.describe('Its own failed tasks, at most ten.'),
  lost_tasks: z.int().describe('Tasks that did not run because of another failure.'),
  root_causes: z.array(rootCause).describe('At most eight.'),
});

const operatorAction = z.strictObject({
  action: z.enum(GRAPH_RUN_ACTIONS),
  at: timestamp,
  by: z.string().optional(),
  reason: z.string().optional(),
  task: z.string().optional(),
  node: z.string().optional().describe('The node of `task`.'),
  before: z.string().optional(),
  group: z.string().optional().describe('Of requests to a rollout: its role. Absent: all for which it had an effect.'),
  limit: z.int().optional().describe('Of `promote`: so many failed nodes stop the rollout from then on.'),
  recheck: z.boolean().optional().describe('Of `promote`: its checks were asked again, and nobody vouched.'),
  entry: z.string().optional().describe('Its entry in the audit trail. Absent: no API has verified the name.'),
});

const nothingToDo = z
  .array(z.strictObject({ reason: z.string(), count: z.int() }))
  .describe('Why no task has work, with the number of nodes or tasks.');
export type NothingToDo = Wire<typeof nothingToDo>;

const roleRollout = rolloutStatus.extend({ role: z.string() });

const graphStatus = z.strictObject({
  type: z.string(),
  transaction: z.int(),
  state: z.enum(GRAPH_STATES),
  done: z.int().describe('Tasks that have ended.'),
  total: z.int().describe('Planned tasks with work, without skipped ones.'),
  counts: taskCounts,
  nodes: z.int(),
  failing_nodes: z.int().describe('Nodes with a failed task or an unreachable agent.'),
  parts: z.int(),
  offline: texts,
  started_at: timestamp.optional(),
  ended_at: timestamp.optional(),
  reason: z.string().optional(),
  rollouts: z.array(roleRollout).optional().describe('Of roles; absent if none has one.'),
});

export const graphRunStatusSchema = z
  .strictObject({
    cluster: z.int(),
    transaction: z.int().nullable(),
    /**
     * Type and step of the current graph (`default: running`, `default: closing`), or whose turn is next
     * (`default: waiting`); before there is any `starting`, behind the last one `closing`, at the end `finished`.
     */
    phase: z.string(),
    ...runStanding,
    outcome: z
      .enum([...GRAPH_RUN_OUTCOMES, ...LOST_OUTCOMES])
      .optional()
      .describe('Absent until the run ends.'),
    done: graphStatus.shape.done,
    total: graphStatus.shape.total,
    counts: taskCounts,
    failed: z.array(failedTask).describe('At most twenty; the report lists more.'),
    failing_nodes: graphStatus.shape.failing_nodes,
    running: z.array(taskOnNode).describe('At most twenty.'),
    silent: texts.describe('Nodes whose agents are unreachable, at most twenty.'),
    graphs: z.array(graphStatus),
    warnings: texts.describe('Warnings for the operator, as in the report; the newest twenty.'),
  })
  .meta({ id: 'GraphRunStatus', description: 'Progress of a graph run; small enough to poll every second.' });

const graphReport = graphStatus.extend({
  plan: z.string().optional().describe('Hash of the plan.'),
  /** Failing first, with the reason of the last attempt. */
  failed_tasks: z.array(failedTask),
  /** Nodes that have not come through, those where it began first. */
  failed_nodes: z.array(failedNode),
  nothing_to_do: nothingToDo.optional(),
  rollouts: z.array(roleRollout.extend({ policy: rolloutPolicy.optional() })).optional(),
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
    overridden: z
      .strictObject({
        limits: z.string().optional().describe('Why it went beyond the limits of sites.'),
        rollouts: z.record(z.string(), anyJson).optional().describe('Rollouts of roles that the run was asked for.'),
      })
      .optional()
      .describe('What the run was asked to do otherwise than release, cluster and site say; absent: nothing.'),
    check_results: z
      .array(keptResultSchema)
      .optional()
      .describe(
        'What came of the checks of its rollouts last, for each node: absent until it ends, and if it has asked none.',
      ),
    operator: z.array(operatorAction),
    warnings: texts,
    cut: z
      .strictObject({ failed_omitted: z.int() })
      .optional()
      .describe(
        'How many failures the lists lack: only in what a run answers itself while the store cannot be reached.',
      ),
  })
  .meta({ id: 'GraphRunReport', description: 'Report of a graph run.' });

const plannedCheck = z.strictObject({
  name: z.string(),
  each: z.enum(['node', 'wave']).describe('`node`: it is asked for each node. `wave`: once.'),
  seconds: z.number().describe('After so long it has a verdict.'),
  on_nodes: z.enum(['together', 'alone']).optional().describe('Nodes ask; absent: a worker does.'),
});

const planReference = z.strictObject({
  hash: z.string().describe('Of the stored plan.'),
  tasks: z.int(),
  nodes: z.int(),
  mode: z.enum(GRAPH_RUN_MODES),
  parts: z
    .array(z.strictObject({ chunks: z.int(), tasks: z.int(), skipped: z.int(), nodes: z.int() }))
    .describe('The parts that the plan is split into for execution, and the number of chunks in which each is loaded.'),
  coordination: z
    .strictObject({
      chunks: z.int(),
      apart: z.literal(true).optional().describe('In a workflow of its own; absent: in that of the run.'),
    })
    .nullable()
    .describe('Of the coordinator of the parts; null for one part.'),
  nothing_to_do: nothingToDo.optional().describe('Present only if no task has work: the reasons.'),
  limits: z
    .literal(true)
    .optional()
    .describe('The run asks for permits before it touches nodes; absent if no documents limit it.'),
  checks: z
    .strictObject({ site: z.string(), revision: z.int(), checks: z.array(plannedCheck) })
    .optional()
    .describe('The checks of its rollouts, and the documents that have them; absent if no rollout has any.'),
  warnings: texts,
});

export const graphPlansSchema = z
  .array(planReference.extend({ type: z.string() }))
  .meta({ id: 'GraphPlans', description: "The plans of a run's graphs made so far." });

/** A stored plan, cut for execution. Pieces are loaded with `load_graph_part`. */
export type PlanReference = Wire<typeof planReference>;
/** A failed task and why. */
export type FailedTask = Wire<typeof failedTask>;
/** A failed node, and its root cause. */
export type FailedNode = Wire<typeof failedNode>;
/** Something an operator did to a run of graphs. */
export type GraphOperatorAction = Wire<typeof operatorAction>;
export type GraphStatus = Wire<typeof graphStatus>;
export type GraphReport = Wire<typeof graphReport>;
/** Answer of the query `status` and of the updates of a run of graphs. */
export type GraphRunStatus = Wire<typeof graphRunStatusSchema>;
export type GraphRunReport = Wire<typeof graphRunReportSchema>;

import { z } from 'zod';
import type { Wire } from '../wire.ts';

const run = z.strictObject({
  task: z.string(),
  type: z.string(),
  placed_by: z.string(),
  first_time: z.boolean().describe('No earlier run of this task on this node is known.'),
  changed: z
    .array(z.string())
    .describe('Values read by its condition that changed since the last run, as `$.path: old -> new`.'),
  new_version: z
    .boolean()
    .optional()
    .describe('True if the task is another one than the one that succeeded on this node last.'),
});

const skip = z.strictObject({
  task: z.string(),
  reason: z.enum(['type', 'not_selected', 'condition']).describe('`type`: a stage, or a disabled task.'),
  why: z.string().describe('The reason in words, with the type or the condition.'),
  values: z.array(z.string()).describe('Values read by the condition, as `$.path = value`.'),
  missed: z
    .boolean()
    .optional()
    .describe('True if the task has changed since it succeeded on this node: only `missed` runs this version of it.'),
});

const node = z.strictObject({ node: z.string(), runs: z.array(run), skipped: z.array(skip) });

/** A plan for people: what runs on each node, what does not, and why. */
export const planExplanationSchema = z.strictObject({
  totals: z.strictObject({ nodes: z.int(), tasks: z.int(), running: z.int(), first_time: z.int() }),
  nodes: z.array(node).describe('What runs on each node, what does not, and why.'),
  not_placed: z.array(z.strictObject({ task: z.string(), reason: z.string() })).describe('Tasks placed on no node.'),
  skipped_primaries: z
    .array(z.strictObject({ task: z.string(), node: z.string(), tag: z.string() }))
    .describe('Nodes that a task skips because they have its tag as `primary-TAG`.'),
  dropped_dependencies: z
    .array(z.strictObject({ task: z.string(), field: z.string(), name: z.string(), reason: z.string() }))
    .describe('Dependencies without effect in this run.'),
  fault_tolerance: z.array(
    z.strictObject({ name: z.string(), node_ids: z.array(z.string()), fault_tolerance: z.int() }),
  ),
  rollouts: z
    .array(z.strictObject({ role: z.string(), waves: z.array(z.array(z.string())).describe('Ids of nodes, by wave.') }))
    .optional()
    .describe('The waves in which the run reaches the nodes of roles; absent if none has a rollout.'),
  any_choices: z
    .array(
      z.strictObject({ roles: z.array(z.unknown()), candidates: z.array(z.string()), chosen: z.array(z.string()) }),
    )
    .describe('Nodes chosen by `policy: any`.'),
});

export type PlanExplanation = Wire<typeof planExplanationSchema>;
export type NodeExplanation = Wire<typeof node>;
export type RunExplanation = Wire<typeof run>;
export type SkipExplanation = Wire<typeof skip>;

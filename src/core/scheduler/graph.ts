import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { isMapping } from '../data/plain-value.ts';
import { number, optional, text, texts, valueThat, whole, wholes } from '../data/schema.ts';
import { rolloutPolicy } from '../rollout/policy.ts';
import { type TaskOnNode, taskText } from '../task-on-node.ts';
import { GRAPH_RUN_MODES } from '../words.ts';

/** Lists are checked for being there, not for agreeing with each other: a stored plan is known by its hash. */
export const tuples = <T extends readonly unknown[]>() =>
  valueThat<T[]>((value) => Array.isArray(value) && value.every(Array.isArray), 'must be a list of lists');
export const nodeGroups = z.array(z.object({ name: text, nodes: wholes, tolerance: number }));

/**
 * A checked plan, compiled to numbers: the input of a scheduler. Plain JSON, linear in tasks + edges + joins, so that a
 * part fits into a payload. `compilePlan` creates it; `partition` cuts it.
 *
 * A *vertex* is something with predecessors and successors: a local task (`0 … tasks-1`), then a join,
 * then an external task of another part. `successors` and `predecessors` are indexed by vertex.
 */
export const schedulerGraph = z.object({
  nodes: texts,
  /** 1 for a sync point. */
  sync: wholes,
  /** 1 for a node whose failure fails the run. */
  critical: wholes,
  names: texts,
  /** By task: index into `names`. */
  nameOf: wholes,
  /** By task: index into `nodes`. */
  nodeOf: wholes,
  /** By task: priority on its node, 0 first (by weight, then plan order). Unique in the run. */
  rank: wholes,
  /** By task: 1 = ends as skipped without running (type without work, or not part of the run). */
  noWork: wholes,
  /** By task: 1 = an error is ignored. */
  forgiven: wholes,
  /** By task, sparse: `[task, count, interval in ms]`. */
  retries: tuples<readonly [number, number, number]>(),
  successors: z.array(wholes),
  /** How many of the vertices are joins: `tasks … tasks+joins-1`. The rest are external tasks. */
  joins: whole,
  /** By name: maximum number of its running tasks; 0 = no limit. */
  nameLimit: wholes,
  /** Most busy nodes; 0 = no limit. */
  nodeLimit: whole,
  /** Nodes as indexes, without empty groups. Empty in a part: the coordinator counts. */
  groups: nodeGroups,
  mode: z.enum(GRAPH_RUN_MODES),
  ...optional({
    /** Rollouts of roles, with their nodes as indexes, by wave; each node is in one. Absent: none. */
    rollouts: z.array(z.object({ name: text, policy: rolloutPolicy, waves: z.array(wholes) })),
    /** Present when this is one part of a run that several scheduler instances share. */
    part: valueThat<GraphPart>(isMapping, 'must be an object'),
  }),
});
export type SchedulerGraph = Wire<typeof schedulerGraph>;

/** Maps a part's numbers to those of the whole run, which all cross-part messages use. */
interface GraphPart {
  readonly index: number;
  readonly count: number;
  /** By local task: its number in the run. */
  readonly tasks: readonly number[];
  /** By local node: its number in the run. */
  readonly nodes: readonly number[];
  /** By local join: its number in the run, or -1 when no other part shares it. */
  readonly joins: readonly number[];
  /** By external vertex: the task's number in the run. */
  readonly externals: readonly number[];
  /** Local tasks that other parts wait for. */
  readonly exported: readonly number[];
  /** By local name, plus one entry for all names without a limit: the class in messages. */
  readonly classes: readonly number[];
  /** By the same index: 1 = a start needs a permit of the coordinator. */
  readonly permits: readonly number[];
}

export const taskCount = (graph: SchedulerGraph): number => graph.nameOf.length;
export const pairOf = (graph: SchedulerGraph, task: number): TaskOnNode => ({
  task: graph.names[graph.nameOf[task]!]!,
  node: graph.nodes[graph.nodeOf[task]!]!,
});
/** The task as a plan refers to it. */
export const keyOf = (graph: SchedulerGraph, task: number): string => taskText(pairOf(graph, task));

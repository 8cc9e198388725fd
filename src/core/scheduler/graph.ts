import type { RolloutPolicy } from '../rollout/policy.ts';
import { type TaskOnNode, taskText } from '../task-on-node.ts';
import type { GraphRunMode } from '../words.ts';

/**
 * A checked plan, compiled to numbers: the input of a scheduler. Plain JSON, linear in tasks + edges + joins, so that a
 * part fits into a payload. `compilePlan` creates it; `partition` cuts it.
 *
 * A *vertex* is something with predecessors and successors: a local task (`0 … tasks-1`), then a join,
 * then an external task of another part. `successors` and `predecessors` are indexed by vertex.
 */
export interface SchedulerGraph {
  readonly nodes: readonly string[];
  /** 1 for a sync point. */
  readonly sync: readonly number[];
  /** 1 for a node whose failure fails the run. */
  readonly critical: readonly number[];
  readonly names: readonly string[];
  /** By task: index into `names`. */
  readonly nameOf: readonly number[];
  /** By task: index into `nodes`. */
  readonly nodeOf: readonly number[];
  /** By task: priority on its node, 0 first (by weight, then plan order). Unique in the run. */
  readonly rank: readonly number[];
  /** By task: 1 = ends as skipped without running (type without work, or not part of the run). */
  readonly noWork: readonly number[];
  /** By task: 1 = an error is ignored. */
  readonly forgiven: readonly number[];
  /** By task, sparse: `[task, count, interval in ms]`. */
  readonly retries: readonly (readonly [number, number, number])[];
  readonly successors: readonly (readonly number[])[];
  /** How many of the vertices are joins: `tasks … tasks+joins-1`. The rest are external tasks. */
  readonly joins: number;
  /** By name: maximum number of its running tasks; 0 = no limit. */
  readonly nameLimit: readonly number[];
  /** Most busy nodes; 0 = no limit. */
  readonly nodeLimit: number;
  /** Nodes as indexes, without empty groups. Empty in a part: the coordinator counts. */
  readonly groups: readonly { readonly name: string; readonly nodes: readonly number[]; readonly tolerance: number }[];
  /** Rollouts of roles, with their nodes as indexes, by wave; each node is in one. Absent: none. */
  readonly rollouts?: readonly {
    readonly name: string;
    readonly policy: RolloutPolicy;
    readonly waves: readonly (readonly number[])[];
  }[];
  readonly mode: GraphRunMode;
  /** Present when this is one part of a run that several scheduler instances share. */
  readonly part?: GraphPart;
}

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

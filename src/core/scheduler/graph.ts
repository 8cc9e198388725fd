import type { GraphRunMode } from '../words.js';

/**
 * A plan, checked and compiled to numbers: what a scheduler instance runs on. Plain JSON, linear in
 * tasks + edges + joins, so that a part of it fits into a payload. Made by `compilePlan`; cut by `partition`.
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
  /** By task: place in the choice on its node, 0 first (more weight first, then plan order). Unique in the run. */
  readonly rank: readonly number[];
  /** By task: 1 = ends as skipped without being driven (type without work, or left out of the run). */
  readonly noWork: readonly number[];
  /** By task: 1 = an error is ignored. */
  readonly forgiven: readonly number[];
  /** By task, sparse: `[task, count, interval in ms]`. */
  readonly retries: readonly (readonly [number, number, number])[];
  readonly successors: readonly (readonly number[])[];
  /** How many of the vertices are joins: `tasks … tasks+joins-1`. The rest are external tasks. */
  readonly joins: number;
  /** By name: most tasks of it at once; 0 = no limit. */
  readonly nameLimit: readonly number[];
  /** Most busy nodes; 0 = no limit. */
  readonly nodeLimit: number;
  /** Nodes as indexes, empty groups dropped. Empty in a part: the coordinator counts. */
  readonly groups: readonly { readonly name: string; readonly nodes: readonly number[]; readonly tolerance: number }[];
  readonly mode: GraphRunMode;
  /** Present when this is one part of a run that several scheduler instances share. */
  readonly part?: GraphPart;
}

/** How a part's numbers relate to the whole run's; all cross-part messages use the whole run's. */
export interface GraphPart {
  readonly index: number;
  readonly count: number;
  /** By local task: its number in the run. */
  readonly tasks: readonly number[];
  /** By local node: its number in the run. */
  readonly nodes: readonly number[];
  /** By local join: its number in the run, or -1 when no other part has to do with it. */
  readonly joins: readonly number[];
  /** By external vertex: the task's number in the run. */
  readonly externals: readonly number[];
  /** Local tasks that other parts wait for. */
  readonly exported: readonly number[];
  /** By local name, then one entry for all names without a limit: the class in messages. */
  readonly classes: readonly number[];
  /** By the same: 1 = starting needs a permit of the coordinator. */
  readonly permits: readonly number[];
}

export const taskCount = (graph: SchedulerGraph): number => graph.nameOf.length;
export const keyOf = (graph: SchedulerGraph, task: number): string =>
  `${graph.names[graph.nameOf[task]!]}@${graph.nodes[graph.nodeOf[task]!]}`;

import type { SchedulerGraph } from '../scheduler/index.js';

export type { PlanReference } from '../contracts/graph-run.js';

/** What a workflow needs to drive one part of a plan. `graph` is core's SchedulerGraph. */
export interface ExecutablePart<Graph = SchedulerGraph> {
  readonly graph: Graph;
  /** By node index of the graph: its task queue; null for nodes without an agent (the sync node). */
  readonly queues: readonly (string | null)[];
  /** Queue of the orchestrator's own host: for tasks that `goesToMaster`. Absent in plans of before. */
  readonly master?: string;
  /**
   * By node index: queue on which its agent answers before the run; null for nodes that are not asked. Absent: the
   * control queue that belongs to each task queue.
   */
  readonly controls?: readonly (string | null)[];
  /** By node index: what its agent calls the node, in orders and requests. Absent: as the graph does. */
  readonly agents?: readonly string[];
  /** Types of tasks, and by local task the index of its own. */
  readonly types: readonly string[];
  readonly typeOf: readonly number[];
  /** By type-independent class: seconds a task may take on its node, tries included; by local task the index. */
  readonly timeouts: readonly number[];
  readonly timeoutOf: readonly number[];
}

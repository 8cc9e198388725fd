import type { SchedulerGraph } from '../scheduler/graph.ts';

export type { PlanReference } from '../contracts/graph-run.ts';

/** The data with which a workflow drives one part of a plan. */
export interface ExecutablePart<Graph = SchedulerGraph> {
  readonly graph: Graph;
  /** By node index of the graph: its task queue; null for nodes without an agent (the sync node). */
  readonly queues: readonly (string | null)[];
  /** Queue of what MAAS does, for task types that `goesToMaster`; the name is that of recorded histories. */
  readonly master: string;
  /** By node index: queue on which its agent answers pings; null for nodes that are not pinged. */
  readonly controls: readonly (string | null)[];
  /** By node index: the agent's name for the node, in orders and requests. */
  readonly agents: readonly string[];
  /** By node index: its name for people. Absent in plans of earlier builds. */
  readonly names?: readonly string[];
  /** Task types, and by local task the index of its type. */
  readonly types: readonly string[];
  readonly typeOf: readonly number[];
  /** Time limits on the node in seconds, tries included, and by local task the index of its limit. */
  readonly timeouts: readonly number[];
  readonly timeoutOf: readonly number[];
}

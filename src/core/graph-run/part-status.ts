import type { FailedTask } from '../contracts/graph-run.ts';
import type { TreeNode } from '../contracts/site-run.ts';
import type { PermitWait } from '../permits/answer.ts';
import type { TaskOnNode } from '../task-on-node.ts';
import type { TaskCounts } from './task-counts.ts';

/** The state of one part of a graph, in a few hundred bytes. A child reports it to its parent from time to time. */
export interface PartStatus {
  readonly counts: TaskCounts;
  /** At most ten. */
  readonly running: readonly TaskOnNode[];
  /** At most twenty; `counts.failed` is the total. */
  readonly failed: readonly FailedTask[];
  /** Nodes on which a task failed, or whose agents did not answer; not those that only lost tasks to others. */
  readonly failing_nodes: number;
  /** Nodes that a task waits for because their agents do not answer; at most ten. */
  readonly silent: readonly string[];
  /** How people call the nodes that it mentions, by their ids. */
  readonly names?: Readonly<Record<string, string>>;
  /** Names of tasks that wait for approval. Absent: none. */
  readonly awaiting?: readonly string[];
  /** What its nodes wait for before they are touched. Absent: nothing. */
  readonly waits?: readonly PermitWait[];
  /** Its history has no capacity for more operator requests in addition to the remaining work. */
  readonly full?: true;
}

/** A part in its parent's tree: its nodes, or the workflow to query for them. */
export type TreeOfPart = readonly TreeNode[] | { readonly workflow_id: string; readonly counts: TaskCounts };

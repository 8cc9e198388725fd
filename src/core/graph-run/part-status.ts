import type { FailedTask, TaskCounts } from '../contracts/graph-run.js';
import { NO_TASKS } from '../scheduler/index.js';

/** The state of one part of a graph, in a few hundred bytes. A child reports it to its parent from time to time. */
export interface PartStatus {
  readonly counts: TaskCounts;
  /** `task@node`, at most ten. */
  readonly running: readonly string[];
  /** At most twenty; `counts.failed` is the total. */
  readonly failed: readonly FailedTask[];
  /** Nodes with failed or dep_failed tasks. */
  readonly failing_nodes: number;
  /** Nodes that a task waits for because their agents do not answer; at most ten. */
  readonly silent: readonly string[];
  /** Its history has no capacity for more operator requests in addition to the remaining work. */
  readonly full?: true;
}

export function sumCounts(all: readonly TaskCounts[]): TaskCounts {
  const sum: Record<keyof TaskCounts, number> = { ...NO_TASKS };
  for (const counts of all) {
    for (const status of Object.keys(sum) as (keyof TaskCounts)[]) sum[status] += counts[status];
  }
  return sum;
}

/** Tasks that have ended. */
export const settledOf = (counts: TaskCounts): number =>
  counts.successful + counts.ignored + counts.skipped + counts.failed + counts.dep_failed;

export const totalOf = (counts: TaskCounts): number =>
  settledOf(counts) + counts.waiting + counts.running + counts.retrying;

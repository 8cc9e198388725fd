import type { FailedTask, TaskCounts } from '../contracts/graph-run.js';
import { NO_TASKS } from '../scheduler/index.js';

/** Where one part of a graph stands, in a few hundred bytes: what a child tells its parent now and then. */
export interface PartStatus {
  readonly counts: TaskCounts;
  /** `task@node`, at most ten. */
  readonly running: readonly string[];
  /** At most twenty; `counts.failed` is how many there are. */
  readonly failed: readonly FailedTask[];
  /** Nodes with failed or dep_failed tasks. */
  readonly failing_nodes: number;
  /** Nodes that a task waits for, since their agents do not answer; at most ten. */
  readonly silent: readonly string[];
  /** Its history has no room for further requests of operators beside what is left to do. */
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

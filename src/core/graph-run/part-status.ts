import type { FailedTask } from '../contracts/graph-run.ts';
import type { TreeNode } from '../contracts/site-run.ts';
import type { PermitWait } from '../permits/answer.ts';
import type { TaskOnNode } from '../task-on-node.ts';
import { sumCounts, type TaskCounts } from './task-counts.ts';

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

/** The state of all parts together, in no more bytes than one; without names. */
export function mergeStatuses(parts: readonly PartStatus[]): PartStatus {
  const running = parts.flatMap((part) => part.running).slice(0, 10);
  const failed = parts.flatMap((part) => part.failed).slice(0, 20);
  const silent = parts.flatMap((part) => part.silent).slice(0, 10);
  const awaiting = [...new Set(parts.flatMap((part) => part.awaiting ?? []))];
  const waits = sumWaits(parts);
  return {
    counts: sumCounts(parts.map((part) => part.counts)),
    running,
    failed,
    failing_nodes: parts.reduce((sum, part) => sum + part.failing_nodes, 0),
    silent,
    ...(awaiting.length > 0 && { awaiting }),
    ...(waits.length > 0 && { waits }),
    ...(parts.some(({ full }) => full) && { full: true }),
  };
}

/** What nodes wait for: each limit once, with the nodes of all parts. */
export function sumWaits(parts: readonly PartStatus[]): readonly PermitWait[] {
  const waits = new Map<string, PermitWait>();
  for (const wait of parts.flatMap((part) => part.waits ?? [])) {
    const machines = wait.machines + (waits.get(wait.limit)?.machines ?? 0);
    waits.set(wait.limit, { ...wait, machines });
  }
  return [...waits.values()];
}

/** A part in its parent's tree: its nodes, or the workflow to query for them. */
export type TreeOfPart = readonly TreeNode[] | { readonly workflow_id: string; readonly counts: TaskCounts };

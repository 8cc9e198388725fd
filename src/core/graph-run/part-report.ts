import type { FailedNode, FailedTask } from '../contracts/graph-run.ts';
import { given } from '../data/given.ts';
import type { NodeStatus, PartEnd, Scheduler } from '../scheduler/index.ts';
import { endOfPart, nodeStatus, rootCauses, shownReports } from '../scheduler/index.ts';
import { isSameTask, type RootCause } from '../task-on-node.ts';
import type { Ledger } from './ledger.ts';
import type { TaskCounts } from './task-counts.ts';

/** The result of one part of a graph after it has ended. Under 100 KB. */
export interface PartReport {
  readonly counts: TaskCounts;
  readonly nodes: Readonly<Record<string, NodeStatus>>;
  /** At most a hundred. */
  readonly failed_tasks: readonly FailedTask[];
  /** At most a hundred. */
  readonly failed_nodes: readonly FailedNode[];
  /** Only of a part that its coordinator has closed: one that someone has cancelled has none. */
  readonly end?: PartEnd;
}

/** Linear in the size of the part: for its end, not for each event. */
export function reportPart(scheduler: Scheduler, ledger: Ledger): PartReport {
  const { graph } = scheduler;
  const nodes = Object.fromEntries(
    graph.nodes.map((id, n) => [id, nodeStatus(scheduler, n) ?? 'not_reached'] as const),
  );
  const causes = rootCauses(scheduler);
  const failed = new Map<string, { failed_tasks: string[]; lost_tasks: number; root_causes: RootCause[] }>();
  shownReports(scheduler).forEach(({ task, node: id, status }, at) => {
    if (status !== 'failed' && status !== 'blocked') return;
    let node = failed.get(id);
    if (node === undefined) failed.set(id, (node = { failed_tasks: [], lost_tasks: 0, root_causes: [] }));
    if (status === 'failed') {
      if (node.failed_tasks.length < 10) node.failed_tasks.push(task);
      addCause(node.root_causes, { task, node: id });
      return;
    }
    node.lost_tasks++;
    for (const cause of causes.get(at) ?? []) addCause(node.root_causes, cause);
  });
  const failed_nodes = [...failed].map(([node, found]) => ({ node, ...found }));
  return {
    counts: ledger.status().counts,
    nodes,
    failed_tasks: ledger.failed(100),
    // Nodes with failed tasks come first: the others only lost dependent tasks.
    failed_nodes: failed_nodes
      .sort((a, b) => Number(b.failed_tasks.length > 0) - Number(a.failed_tasks.length > 0))
      .slice(0, 100),
    ...given({ end: endOfPart(scheduler) }),
  };
}

/** At most eight, each once. */
function addCause(causes: RootCause[], cause: RootCause): void {
  if (causes.length < 8 && !causes.some((known) => isSameTask(known, cause))) causes.push(cause);
}

/** Merges the reports of all parts. */
export function mergeReports(parts: readonly PartReport[], counts: TaskCounts): PartReport {
  return {
    counts,
    nodes: Object.assign({}, ...parts.map((part) => part.nodes)) as PartReport['nodes'],
    failed_tasks: parts.flatMap((part) => part.failed_tasks).slice(0, 100),
    failed_nodes: parts
      .flatMap((part) => part.failed_nodes)
      .sort((a, b) => Number(b.failed_tasks.length > 0) - Number(a.failed_tasks.length > 0))
      .slice(0, 100),
  };
}

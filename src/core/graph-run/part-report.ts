import type { FailedNode, FailedTask } from '../contracts/graph-run.ts';
import { given } from '../data/given.ts';
import { together } from '../data/together.ts';
import { endOfPart } from '../scheduler/part-exchange.ts';
import type { PartEnd } from '../scheduler/part-messages.ts';
import { nodeStatus, rootCauses, shownReports } from '../scheduler/report.ts';
import type { Scheduler } from '../scheduler/state.ts';
import type { NodeStatus } from '../scheduler/status.ts';
import { isSameTask, type RootCause, type TaskOnNode } from '../task-on-node.ts';
import type { TaskStatus } from '../words.ts';
import type { Ledger } from './ledger.ts';
import type { TaskCounts } from './task-counts.ts';

/** The result of one part of a graph after it has ended. Under 100 KB. */
export interface PartReport {
  readonly counts: TaskCounts;
  readonly nodes: Readonly<Record<string, NodeStatus>>;
  /** At most a hundred. */
  readonly failed_tasks: readonly FailedTask[];
  /** How many of the failed tasks were lost. Absent: none. */
  readonly lost?: number;
  /** At most a hundred. */
  readonly failed_nodes: readonly FailedNode[];
  /** How many more there are. Absent: none. */
  readonly nodes_omitted?: number;
  /** Only of a part that its coordinator has closed: one that someone has cancelled has none. */
  readonly end?: PartEnd;
}

/** Nodes by how they ended, which ten thousand in a payload need; builds before have written how each node ended. */
export type NodeEnds = Readonly<Partial<Record<NodeStatus, readonly string[]>>> | Readonly<Record<string, NodeStatus>>;

export function nodesByEnd({ nodes }: Pick<PartReport, 'nodes'>): NodeEnds {
  const byEnd = together(Object.entries(nodes), ([, status]) => status);
  return Object.fromEntries([...byEnd].map(([status, ended]) => [status, ended.map(([node]) => node)]));
}

/** How each node ended. */
export function endsOf(nodes: NodeEnds): ReadonlyMap<string, NodeStatus> {
  const ends = new Map<string, NodeStatus>();
  for (const [name, value] of Object.entries<NodeStatus | readonly string[]>(nodes))
    if (typeof value === 'string') ends.set(name, value);
    else for (const node of value) ends.set(node, name as NodeStatus);
  return ends;
}

/**
 * Linear in the size of the part: for its end, not for each event.
 *
 * @param most tasks and nodes that it lists
 */
export function reportPart(scheduler: Scheduler, ledger: Ledger, most = 100): PartReport {
  const { graph } = scheduler;
  const nodes = Object.fromEntries(
    graph.nodes.map((id, n) => [id, nodeStatus(scheduler, n) ?? 'not_reached'] as const),
  );
  const causes = rootCauses(scheduler);
  const failures = shownReports(scheduler).map((task, at) => ({ ...task, causes: causes.get(at) ?? [] }));
  return {
    counts: ledger.status().counts,
    nodes,
    failed_tasks: ledger.failed(most),
    ...lostOf(ledger.lost()),
    ...atMost(failedNodes(failures), most),
    ...given({ end: endOfPart(scheduler) }),
  };
}

/** The nodes with a task that failed or was blocked, those with a failed one first: the others only lost dependent tasks. */
export function failedNodes(
  tasks: Iterable<TaskOnNode & { readonly status: TaskStatus; readonly causes: readonly RootCause[] }>,
): FailedNode[] {
  const found = new Map<string, { failed_tasks: string[]; lost_tasks: number; root_causes: RootCause[] }>();
  for (const { task, node: id, status, causes } of tasks) {
    if (status !== 'failed' && status !== 'blocked') continue;
    let node = found.get(id);
    if (node === undefined) found.set(id, (node = { failed_tasks: [], lost_tasks: 0, root_causes: [] }));
    if (status === 'failed') {
      if (node.failed_tasks.length < 10) node.failed_tasks.push(task);
      addCause(node.root_causes, { task, node: id });
      continue;
    }
    node.lost_tasks++;
    for (const cause of causes) addCause(node.root_causes, cause);
  }
  return ownFailuresFirst([...found].map(([node, one]) => ({ node, ...one })));
}

export const ownFailuresFirst = (nodes: readonly FailedNode[]): FailedNode[] =>
  nodes.toSorted((a, b) => Number(b.failed_tasks.length > 0) - Number(a.failed_tasks.length > 0));

/** At most eight, each once. */
function addCause(causes: RootCause[], cause: RootCause): void {
  if (causes.length < 8 && !causes.some((known) => isSameTask(known, cause))) causes.push(cause);
}

/** The store has all. */
function atMost(
  nodes: readonly FailedNode[],
  most: number,
  before = 0,
): Pick<PartReport, 'failed_nodes' | 'nodes_omitted'> {
  const omitted = before + Math.max(0, nodes.length - most);
  return { failed_nodes: nodes.slice(0, most), ...(omitted > 0 && { nodes_omitted: omitted }) };
}

const lostOf = (lost: number): Pick<PartReport, 'lost'> => (lost > 0 ? { lost } : {});

/** Merges the reports of all parts. */
export function mergeReports(parts: readonly PartReport[], counts: TaskCounts): PartReport {
  const omitted = parts.reduce((sum, { nodes_omitted = 0 }) => sum + nodes_omitted, 0);
  return {
    counts,
    nodes: Object.assign({}, ...parts.map((part) => part.nodes)) as PartReport['nodes'],
    failed_tasks: parts.flatMap((part) => part.failed_tasks).slice(0, 100),
    ...lostOf(parts.reduce((sum, { lost = 0 }) => sum + lost, 0)),
    ...atMost(ownFailuresFirst(parts.flatMap((part) => part.failed_nodes)), 100, omitted),
  };
}

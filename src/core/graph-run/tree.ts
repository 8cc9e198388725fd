import type { GraphStatus } from '../contracts/graph-run.ts';
import type { TreeNode } from '../contracts/site-run.ts';
import { given } from '../data/given.ts';
import { type Standing, standingOf, waitingDetail } from '../run/progress.ts';
import { shownReports } from '../scheduler/report.ts';
import type { Scheduler } from '../scheduler/state.ts';
import { stateWord } from '../state-word.ts';
import { causeText, type RootCause, type TaskOnNode } from '../task-on-node.ts';
import { counted } from '../text/text.ts';
import type { TaskStatus } from '../words.ts';
import type { GraphRunProgress } from './progress.ts';
import { statusOfGraph } from './status.ts';
import { allOf, doneOf, type SomeCounts, settledOf, workOf } from './task-counts.ts';

/** Up to this many tasks, a tree shows all. Above, only those that run or failed. */
export const TASKS_SHOWN = 1_000;
export const NOTABLE: readonly TaskStatus[] = ['failed', 'running', 'retrying'];

interface TaskInTree extends TaskOnNode {
  readonly status: TaskStatus;
  readonly attempts: number;
  /** Of a blocked task. */
  readonly cause?: RootCause | undefined;
}

interface NodeInTree {
  /** As tasks name it. */
  readonly id: string;
  readonly name: string;
  readonly counts: SomeCounts;
}

/** The nodes whose agents do not answer, by the causes of their blocked tasks. */
export const lostIn = (tasks: readonly TaskInTree[]): ReadonlySet<string> =>
  new Set(tasks.flatMap(({ node, cause }) => (cause?.task === null && cause.node === node ? node : [])));

/** Nodes with those of the tasks that are shown. @param lost ids of the nodes whose agents do not answer */
export function treeOfTasks(
  nodes: readonly NodeInTree[],
  tasks: readonly TaskInTree[],
  lost: ReadonlySet<string>,
): TreeNode[] {
  const byNode = new Map<string, TreeNode[]>();
  for (const task of tasks.slice(0, TASKS_SHOWN)) {
    const own = byNode.get(task.node);
    if (own === undefined) byNode.set(task.node, [taskInTree(task)]);
    else own.push(taskInTree(task));
  }
  return nodes.map(({ id, name, counts }) => {
    const shown = byNode.get(id);
    const ended = settledOf(counts) === allOf(counts) ? 'finished' : 'running';
    return {
      name,
      kind: 'node',
      state: lost.has(id) || (counts.failed ?? 0) > 0 ? 'failing' : ended,
      detail: `${doneOf(counts)} of ${counted(workOf(counts), 'task')}`,
      ...(shown && { children: shown }),
    };
  });
}

function taskInTree({ task, status, attempts, cause }: TaskInTree): TreeNode {
  const detail =
    (cause && causeText(cause)) ??
    (status === 'not_reached' ? stateWord(status) : attempts > 1 ? `attempt ${attempts}` : undefined);
  return { name: task, kind: 'task', state: status, ...given({ detail }) };
}

/** The nodes of a part with their tasks. */
export function treeOfPart(scheduler: Scheduler): TreeNode[] {
  const { nodes } = scheduler.graph;
  const reports = shownReports(scheduler);
  const counts = new Map(nodes.map((name) => [name, {} as Partial<Record<TaskStatus, number>>]));
  for (const { node, status } of reports) {
    const own = counts.get(node)!;
    own[status] = (own[status] ?? 0) + 1;
  }
  const all = reports.length <= TASKS_SHOWN;
  return treeOfTasks(
    nodes.map((name) => ({ id: name, name, counts: counts.get(name)! })),
    all ? reports : reports.filter(({ status }) => NOTABLE.includes(status)),
    lostIn(reports),
  );
}

/** A graph of a run. @param children its nodes, or its parts */
const treeOfGraph = ({ type, state, done, total }: GraphStatus, children: readonly TreeNode[]): TreeNode => ({
  name: type,
  kind: 'graph',
  state,
  ...(total > 0 ? { detail: `${done} of ${counted(total, 'task')}` } : {}),
  children,
});

/** @param childrenOf the nodes of a graph, or its parts */
export const treeOfGraphs = (
  workflowId: string,
  status: Standing & { readonly graphs: readonly GraphStatus[] },
  childrenOf: (graph: GraphStatus, at: number) => readonly TreeNode[],
): TreeNode => ({
  name: workflowId,
  kind: 'run',
  state: standingOf(status),
  ...waitingDetail(status),
  children: status.graphs.map((graph, at) => treeOfGraph(graph, childrenOf(graph, at))),
});

/** As its workflow knows it: a part that is a workflow answers for its own nodes. */
export function treeOfGraphRun(progress: GraphRunProgress, standing: Standing): TreeNode {
  const graphs = progress.graphs.map((graph) => statusOfGraph(graph, progress.outcome !== undefined));
  return treeOfGraphs(progress.workflow_id, { ...standing, graphs }, (_graph, at) =>
    progress.graphs[at]!.trees().flatMap((part, number): readonly TreeNode[] => {
      if (!('workflow_id' in part)) return part;
      return [
        {
          name: `part ${number + 1}`,
          kind: 'part',
          state: settledOf(part.counts) === allOf(part.counts) ? 'finished' : 'running',
          detail: `${doneOf(part.counts)} of ${counted(workOf(part.counts), 'task')}`,
          workflow_id: part.workflow_id,
        },
      ];
    }),
  );
}

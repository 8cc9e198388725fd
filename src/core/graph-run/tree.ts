import type { TaskCounts } from '../contracts/graph-run.js';
import type { TreeNode } from '../contracts/site-run.js';
import { counted } from '../counted.js';
import type { Scheduler } from '../scheduler/index.js';
import { taskReports } from '../scheduler/index.js';
import { settledOf, sumCounts, totalOf } from './part-status.js';
import type { GraphRunProgress } from './progress.js';

/** A part in its parent's tree: its nodes, or the workflow to query for them. */
export type TreeOfPart = readonly TreeNode[] | { readonly workflow_id: string; readonly counts: TaskCounts };

/** Up to this many tasks, all are shown. Above, only those that run or failed. */
const TASKS_SHOWN = 1_000;

/** The nodes of a part with their tasks. */
export function treeOfPart(scheduler: Scheduler): TreeNode[] {
  const { graph } = scheduler;
  const reports = taskReports(scheduler);
  const all = reports.length <= TASKS_SHOWN;
  const tasks = graph.nodes.map((): TreeNode[] => []);
  const done = graph.nodes.map(() => 0);
  const total = graph.nodes.map(() => 0);
  const lost = graph.nodes.map(() => false);
  let shown = 0;
  reports.forEach(({ status, attempts, cause, undone }, task) => {
    const node = graph.nodeOf[task]!;
    total[node]!++;
    const settled = !['waiting', 'ready', 'running', 'retrying'].includes(status);
    if (settled) done[node]!++;
    if (status === 'failed' || status === 'dep_failed') lost[node] = true;
    const isNotable = status === 'running' || status === 'retrying' || status === 'failed';
    if ((!all && !isNotable) || shown >= TASKS_SHOWN) return;
    shown++;
    const detail = cause ?? (undone === true ? 'left undone' : attempts > 1 ? `attempt ${attempts}` : undefined);
    tasks[node]!.push({
      name: graph.names[graph.nameOf[task]!]!,
      kind: 'task',
      state: status,
      ...(detail === undefined ? {} : { detail }),
    });
  });
  return graph.nodes.map((name, node) => ({
    name,
    kind: 'node',
    state: lost[node] ? 'failing' : done[node] === total[node] ? 'finished' : 'running',
    detail: `${done[node]} of ${total[node]} tasks`,
    ...(tasks[node]!.length > 0 ? { children: tasks[node]! } : {}),
  }));
}

export function treeOfRun(progress: GraphRunProgress): TreeNode {
  return {
    name: progress.workflow_id,
    kind: 'run',
    state: progress.outcome ?? (progress.paused ? 'paused' : 'running'),
    children: progress.graphs.map((graph) => {
      const counts = sumCounts(graph.statuses().map((part) => part.counts));
      const total = totalOf(counts);
      return {
        name: graph.type,
        kind: 'graph' as const,
        state: graph.state,
        ...(total > 0 ? { detail: `${settledOf(counts)} of ${counted(total, 'task')}` } : {}),
        children: graph.trees().flatMap((part, at): readonly TreeNode[] => {
          if (!('workflow_id' in part)) return part;
          const all = totalOf(part.counts);
          return [
            {
              name: `part ${at + 1}`,
              kind: 'part',
              state: settledOf(part.counts) === all ? 'finished' : 'running',
              detail: `${settledOf(part.counts)} of ${counted(all, 'task')}`,
              workflow_id: part.workflow_id,
            },
          ];
        }),
      };
    }),
  };
}

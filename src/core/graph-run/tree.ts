import type { TreeNode } from '../contracts/site-run.ts';
import { given } from '../data/given.ts';
import { standingOf } from '../run/index.ts';
import type { Scheduler } from '../scheduler/index.ts';
import { shownReports } from '../scheduler/index.ts';
import { stateWord } from '../state-word.ts';
import { causeText } from '../task-on-node.ts';
import { counted } from '../text/text.ts';
import { DONE_STATUSES } from '../words.ts';
import type { GraphRunProgress } from './progress.ts';
import { allOf, doneOf, settledOf, sumCounts, workOf } from './task-counts.ts';

/** Up to this many tasks, all are shown. Above, only those that run or failed. */
const TASKS_SHOWN = 1_000;

const DONE: ReadonlySet<string> = new Set(DONE_STATUSES);

/** The nodes of a part with their tasks. */
export function treeOfPart(scheduler: Scheduler): TreeNode[] {
  const { graph } = scheduler;
  const reports = shownReports(scheduler);
  const all = reports.length <= TASKS_SHOWN;
  const tasks = graph.nodes.map((): TreeNode[] => []);
  const done = graph.nodes.map(() => 0);
  const total = graph.nodes.map(() => 0);
  const open = graph.nodes.map(() => 0);
  const failed = graph.nodes.map(() => false);
  let shown = 0;
  reports.forEach(({ status, attempts, cause }, task) => {
    const node = graph.nodeOf[task]!;
    if (status !== 'skipped') total[node]!++;
    if (DONE.has(status)) done[node]!++;
    if (status === 'waiting' || status === 'running' || status === 'retrying') open[node]!++;
    if (status === 'failed' || (cause?.task === null && cause.node === graph.nodes[node])) failed[node] = true;
    const isNotable = status === 'running' || status === 'retrying' || status === 'failed';
    if ((!all && !isNotable) || shown >= TASKS_SHOWN) return;
    shown++;
    const detail =
      (cause && causeText(cause)) ??
      (status === 'not_reached' ? stateWord(status) : attempts > 1 ? `attempt ${attempts}` : undefined);
    tasks[node]!.push({
      name: graph.names[graph.nameOf[task]!]!,
      kind: 'task',
      state: status,
      ...given({ detail }),
    });
  });
  return graph.nodes.map((name, node) => ({
    name,
    kind: 'node',
    state: failed[node] ? 'failing' : open[node] === 0 ? 'finished' : 'running',
    detail: `${done[node]} of ${counted(total[node]!, 'task')}`,
    ...(tasks[node]!.length > 0 ? { children: tasks[node]! } : {}),
  }));
}

export function treeOfRun(progress: GraphRunProgress): TreeNode {
  return {
    name: progress.workflow_id,
    kind: 'run',
    state: progress.outcome ?? standingOf(progress),
    children: progress.graphs.map((graph) => {
      const counts = sumCounts(graph.statuses().map((part) => part.counts));
      const total = workOf(counts);
      return {
        name: graph.type,
        kind: 'graph' as const,
        state: graph.state,
        ...(total > 0 ? { detail: `${doneOf(counts)} of ${counted(total, 'task')}` } : {}),
        children: graph.trees().flatMap((part, at): readonly TreeNode[] => {
          if (!('workflow_id' in part)) return part;
          return [
            {
              name: `part ${at + 1}`,
              kind: 'part',
              state: settledOf(part.counts) === allOf(part.counts) ? 'finished' : 'running',
              detail: `${doneOf(part.counts)} of ${counted(workOf(part.counts), 'task')}`,
              workflow_id: part.workflow_id,
            },
          ];
        }),
      };
    }),
  };
}

import type { ClusterVersionsAnswer } from '../../core/contracts/fuel/versions.ts';
import type { GraphRequest } from '../../core/graph-run/input.ts';
import { taskText } from '../../core/task-on-node.ts';
import type { StorePorts, TransactionRecord } from '../../store/index.ts';

type MissedTasks = ClusterVersionsAnswer['nodes'][number]['missed'];

/**
 * By node, the tasks that a deployment found changed and did not run, and that have not run since: a later success has its own digest.
 * @param graphs whole ones that ended, newest first
 */
export async function missedTasks(
  { taskStates, transactions, taskHistory }: Pick<StorePorts, 'taskStates' | 'transactions' | 'taskHistory'>,
  cluster: number,
  graphs: readonly TransactionRecord[],
): Promise<ReadonlyMap<string, MissedTasks>> {
  const missed = new Map<string, MissedTasks[number][]>();
  const succeeded = await taskStates.digests(cluster);
  for (const [graph, ofType] of byType(graphs)) {
    const seen = new Set<string>();
    for (const { id } of ofType) {
      const text = await transactions.getSnapshot(id, 'task_digests');
      // Written by `plan_graph` only.
      const planned = new Map(Object.entries(JSON.parse(text ?? '{}') as Readonly<Record<string, string>>));
      const others = succeeded.filter(({ task, digest }) => planned.has(task) && planned.get(task) !== digest);
      if (others.length === 0) continue;
      const still = new Set(others.map(taskText));
      for (const row of await taskHistory.list(id, { tasks: [...new Set(others.map(({ task }) => task))] })) {
        const { task, node, status, custom, message } = row;
        const which = taskText(row);
        if (!still.has(which) || seen.has(which)) continue;
        seen.add(which);
        const isMissed = status === 'skipped' && (custom as { readonly missed?: unknown } | null)?.missed === true;
        if (isMissed) missed.set(node, [...(missed.get(node) ?? []), { task, graph, why: message ?? '' }]);
      }
    }
  }
  return missed;
}

/** Of each type the newest ones, as far as the first that was for all nodes. */
function byType(graphs: readonly TransactionRecord[]): ReadonlyMap<string, readonly TransactionRecord[]> {
  const found = new Map<string, TransactionRecord[]>();
  const complete = new Set<string>();
  for (const graph of graphs) {
    const type = graph.graphType!;
    if (complete.has(type)) continue;
    found.set(type, [...(found.get(type) ?? []), graph]);
    if (((graph.input ?? {}) as Partial<GraphRequest>).nodes === undefined) complete.add(type);
  }
  return found;
}

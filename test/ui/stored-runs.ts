import type { Store } from '../../src/store/index.ts';
import type { Environment } from '../api/fuel-graphs-rig.ts';

/** The outcome of a task of a stored run, by its name; `success` by default. */
export type Endings = Readonly<Record<string, 'success' | 'failed' | 'skipped'>>;

export interface StoredRun {
  readonly id: string;
  /** Definitions of tasks, each on every node given. */
  readonly tasks: readonly { readonly id: string; readonly type: string; readonly requires?: readonly string[] }[];
  readonly nodes: readonly string[];
  readonly startedAt: string;
  /** Of the graph; default: `default`. */
  readonly type?: string;
  /** Seconds of each task. */
  readonly seconds?: number;
  readonly endings?: Endings;
  readonly outcome?: string | null;
}

/** A run of graphs in the store: its tasks one after the other, on all nodes in parallel. */
export async function storeGraphRun(store: Store, env: Environment, run: StoredRun): Promise<void> {
  const { id, tasks, nodes, startedAt, type = 'default', seconds = 10, endings = {}, outcome = 'success' } = run;
  const workflowId = `execute_graph:${env.cluster}:${id}`;
  const { run: parent, graphs } = await store.transactions.createRun({
    clusterId: env.cluster,
    graphs: [{ graphType: type }],
    workflowId,
    temporalRunId: id,
    timeStart: startedAt,
  });
  const graph = graphs[0]!.id;
  await store.transactions.putSnapshot(graph, 'tasks', JSON.stringify(tasks));
  await store.taskHistory.plan(
    graph,
    tasks.flatMap((task) => nodes.map((node) => ({ task: task.id, node }))),
  );
  const at = (index: number) => new Date(Date.parse(startedAt) + index * seconds * 1000).toISOString();
  const rows = tasks.flatMap((task, index) =>
    nodes.map((node) => {
      const status = endings[task.id] ?? 'success';
      const times = status === 'skipped' ? {} : { timeStart: at(index), timeEnd: at(index + 1) };
      const message = status === 'failed' ? { message: 'exit code 3: no space left on device' } : {};
      return { task: task.id, node, status, attempt: 1, sequence: 1, ...times, ...message };
    }),
  );
  for (let from = 0; from < rows.length; from += 1000)
    await store.taskHistory.record(graph, rows.slice(from, from + 1000));
  // Temporal would be asked about an open one.
  await store.transactions.update(graph, { status: 'success', planHash: null });
  const failed = Object.values(endings).includes('failed');
  const labels = { cluster: String(env.cluster) };
  await store.runs.put({
    ...{
      id,
      number: parent.id,
      workflowId,
      temporalRunId: id,
      kind: 'execute_graph',
      labels,
      startedAt,
      sequence: 1,
      phase: 'finished',
    },
    ...{ outcome, endedAt: at(tasks.length), done: rows.length, total: rows.length, startedBy: 'nina' },
    ...(failed ? { failure: 'a task failed' } : {}),
    parameters: {
      cluster: env.cluster,
      graphs: [{ type, nodes: nodes.map(Number) }],
      hold_on_failure: false,
    },
  });
}

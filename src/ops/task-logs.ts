import type { OutputStream } from '../agent/index.ts';
import type { LogPart, TaskLogs } from '../agent/output/task-logs.ts';
import { agentAddress } from '../clusters/agent-address.ts';
import { readClusterSources } from '../clusters/read-sources.ts';
import { type ClusterNode, uidOf } from '../clusters/sources.ts';
import type { RunLogPage } from '../core/contracts/runs.ts';
import { given } from '../core/data/given.ts';
import { graphRunName } from '../core/graph-run/title.ts';
import { showTasks } from '../core/next-steps.ts';
import { graphRunOf } from '../core/run/subject.ts';
import { type ExecutionKey, type TaskOnNode, taskText } from '../core/task-on-node.ts';
import { isTransactionOpen } from '../core/words.ts';
import { type RunTransactions, type Store, StoreError, type TransactionRecord } from '../store/index.ts';
import { taskInRun } from './named-in-run.ts';
import { problem } from './problem.ts';
import { type RunLogRequest, runLogPage } from './run-log.ts';
import { Service } from './service.ts';

interface TaskLogRequest extends TaskOnNode {
  /** A transaction of a graph run or of one of its graphs, or the workflow id of the run. */
  readonly run: string;
  /** Default: both, in the order of their pieces. */
  readonly stream?: OutputStream;
  /** Default: the newest one that has started. */
  readonly attempt?: number;
  readonly offset?: number;
  /** Also wait for a task that has not started. */
  readonly follow?: boolean;
  readonly stop?: AbortSignal;
}

/** The output of tasks on their nodes. */
export class TaskLogOperations extends Service {
  /** Lines of all tasks, by when they arrived. @throws `not-found` for an unknown run */
  async ofRun(reference: string, request: RunLogRequest): Promise<RunLogPage> {
    const { run, graphs } = await graphsOf(this.store, reference);
    const names = graphs.toReversed().flatMap(({ id }) => namesOf(id, run));
    return this.deps.taskLogs === undefined
      ? { items: [], earlier: null, later: '0.0' }
      : runLogPage(this.deps.taskLogs, names, request);
  }
  /** @throws `not-found` for an unknown run, task or attempt, and for one that has not started, unless `follow` */
  async open({
    run,
    task,
    node,
    stream,
    attempt,
    offset,
    follow,
    stop,
  }: TaskLogRequest): Promise<{ readonly attempt: number; readonly parts: AsyncGenerator<LogPart> }> {
    const graphs = await graphsOf(this.store, run);
    if (this.deps.taskLogs === undefined) throw nothing(graphs.run, { task, node });
    const found = await findLog(this.store, this.deps.taskLogs, graphs, task, node, attempt);
    if (found === undefined) {
      const { clusterId: cluster, id: transaction } = graphs.run;
      await taskInRun(this.store, { cluster, transaction }, { task, node });
      throw unknownTask(run, { task, node });
    }
    if (!found.hasStarted && (follow !== true || !isTransactionOpen(graphs.run.status)))
      throw nothing(graphs.run, { task, node });
    return {
      attempt: found.key.generation,
      parts: this.deps.taskLogs.read(found.key, stream, {
        ...given({ offset, follow, stop }),
      }),
    };
  }
}

/** A run with its graphs, last first. `run` is a transaction, a workflow id, or a run id. */
async function graphsOf(store: Store, run: string): Promise<RunTransactions> {
  const id = /^\d{1,15}$/.test(run) ? Number(run) : undefined;
  const found =
    id !== undefined
      ? await store.transactions.getRun(id)
      : ((await store.transactions.findRun(run)) ?? (await findByRunId(store, run)));
  if (found === null)
    throw problem('not-found', `there is no graph run '${run.slice(0, 200)}'`, {
      hint: "Give the id of its transaction: 'sitewright history list' shows them.",
    });
  const isMeant = ({ id: graph }: TransactionRecord) => found.run.id === id || id === undefined || graph === id;
  return { ...found, graphs: [...found.graphs, ...found.asking].filter(isMeant).toReversed() };
}

async function findByRunId(store: Store, id: string) {
  const run = await store.runs.get(id).catch((error: unknown) => {
    if (error instanceof StoreError && error.failure.kind === 'not-found') return undefined;
    throw error;
  });
  if (run === undefined) return null;
  const { transaction } = graphRunOf(run);
  return transaction !== null
    ? store.transactions.getRun(transaction)
    : store.transactions.findRun(run.workflowId, run.temporalRunId ?? undefined);
}

async function findLog(
  store: Store,
  logs: TaskLogs,
  { run, graphs }: RunTransactions,
  task: string,
  node: string,
  attempt: number | undefined,
): Promise<{ readonly key: ExecutionKey; readonly hasStarted: boolean } | undefined> {
  const names = await agentNames(store, graphs[0], node);
  for (const graph of graphs)
    for (const execution of names.flatMap((node) =>
      namesOf(graph.id, run).map((name) => ({ run: name, task, node })),
    )) {
      const attempts = logs.attempts(execution);
      const wanted = attempt ?? attempts.at(-1);
      if (wanted !== undefined && attempts.includes(wanted))
        return { key: { ...execution, generation: wanted }, hasStarted: true };
    }
  for (const graph of graphs) {
    const [row] = await store.taskHistory.list(graph.id, { tasks: [task], nodes: [node] });
    const [name] = namesOf(graph.id, run);
    if (row !== undefined && name !== undefined)
      return { key: { run: name, task, node: names[0]!, generation: attempt ?? 1 }, hasStarted: false };
  }
  return undefined;
}

/** The agents' name for a graph's run; none before its workflow has started. */
const namesOf = (graph: number, { temporalRunId }: TransactionRecord): string[] =>
  temporalRunId === null ? [] : [graphRunName(graph, temporalRunId)];

/** Logs are stored under the agent's name; users give the node's id, name or host name. */
async function agentNames(store: Store, graph: TransactionRecord | undefined, node: string): Promise<string[]> {
  if (graph?.clusterId == null) return [node];
  const sources = await readClusterSources(store, graph.clusterId).catch(() => undefined);
  const means = (one: ClusterNode) => [uidOf(one), one.name, one.hostname].includes(node);
  const meant = sources?.nodes.find(means);
  const name = sources === undefined || meant === undefined ? node : agentAddress(sources, meant).node;
  return [...new Set([name, node])];
}

const unknownTask = (run: string, of: TaskOnNode) =>
  problem('not-found', `run ${run} has no task ${taskText(of)}, or no such attempt of it`, {
    hint: `'${showTasks(run)}' lists its tasks with their nodes.`,
  });

const nothing = (run: TransactionRecord, of: TaskOnNode) =>
  !isTransactionOpen(run.status)
    ? problem('not-found', `${taskText(of)} of run ${run.id} has no output, and the run has ended`, {
        hint: `'${showTasks(run.id)}' shows its result.`,
      })
    : problem('not-found', `${taskText(of)} of run ${run.id} has not printed anything yet`, {
        hint: 'Use follow to wait for it.',
      });

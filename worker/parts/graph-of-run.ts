import { isMapping } from '../../src/core/data/plain-value.ts';
import { graphRunName, readGraphRunName } from '../../src/core/graph-run/title.ts';
import { type Store, StoreError, type TransactionRecord } from '../../src/store/index.ts';

/**
 * The transactions of a graph that agents name, and of its run. Undefined if this store has no such run: agents outlive
 * stores, and a restored or new store gives the numbers of their runs to others.
 */
export async function graphOfRun(
  store: Store,
  name: string,
): Promise<{ readonly graph: TransactionRecord; readonly run: TransactionRecord } | undefined> {
  const named = readGraphRunName(name);
  if (named === undefined) return undefined;
  try {
    const { run, graphs, asking } = await store.transactions.getRun(named.graph);
    const graph = [run, ...graphs, ...asking].find(({ id }) => id === named.graph);
    // Agents keep journals by the whole name: under half of it, a task would be another one and run again.
    return graph !== undefined && named.execution === run.temporalRunId ? { graph, run } : undefined;
  } catch (error) {
    if (error instanceof StoreError && error.failure.kind === 'not-found') return undefined;
    throw error;
  }
}

const MAX_EARLIER = 20;

/**
 * The runs that a run continues (`--from`), newest first, as agents name them, back to the last in which the task succeeded
 * or had no part. Where it did not succeed, the node may know better.
 *
 * @param node as histories name it
 */
export async function earlierRuns(
  store: Store,
  { graph, run }: { readonly graph: TransactionRecord; readonly run: TransactionRecord },
  task: string,
  node: string,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (let at = run; names.length < MAX_EARLIER; ) {
    const from = isMapping(at.input) ? at.input.from : undefined;
    const [before] = typeof from === 'number' ? await store.transactions.list({ ids: [from] }) : [];
    if (before === undefined) break;
    const earlier = await store.transactions.getRun(before.id);
    const same = earlier.graphs.find(({ graphType }) => graphType === graph.graphType);
    const [row] = same === undefined ? [] : await store.taskHistory.list(same.id, { tasks: [task], nodes: [node] });
    const execution = earlier.run.temporalRunId;
    if (same === undefined || row === undefined || row.status === 'success' || execution === null) break;
    names.push(graphRunName(same.id, execution));
    at = earlier.run;
  }
  return names;
}

import { readGraphRunName } from '../src/core/graph-run/index.js';
import { type Store, StoreError, type TransactionRecord } from '../src/store/index.js';

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
    const { run, graphs } = await store.transactions.getRun(named.graph);
    const graph = [run, ...graphs].find(({ id }) => id === named.graph);
    const isSame = named.execution === undefined || named.execution === run.temporalRunId;
    return graph === undefined || !isSame ? undefined : { graph, run };
  } catch (error) {
    if (error instanceof StoreError && error.failure.kind === 'not-found') return undefined;
    throw error;
  }
}

import { allOf, percentOf } from '../../core/graph-run/task-counts.ts';
import { isTransactionOpen } from '../../core/words.ts';
import type { Store, TransactionRecord } from '../../store/index.ts';

/** A transaction as it is now. */
export interface ShownTransaction extends TransactionRecord {
  /** Percent of its tasks that are done; of a run, the mean of its graphs. */
  readonly progress: number;
}

type Ports = Pick<Store, 'transactions' | 'taskHistory'>;

export const withProgress = async (store: Ports, one: TransactionRecord): Promise<ShownTransaction> => ({
  ...one,
  progress: await progressOf(store, one),
});

async function progressOf(store: Ports, { id, status, parentId }: TransactionRecord): Promise<number> {
  if (!isTransactionOpen(status)) return 100;
  if (status === 'waiting') return 0;
  const graphs = parentId === null ? (await store.transactions.getRun(id)).graphs : [];
  if (graphs.length === 0) return shareDone(store, id);
  const shares = await Promise.all(graphs.map((graph) => progressOf(store, graph)));
  return Math.floor(shares.reduce((sum, share) => sum + share) / shares.length);
}

async function shareDone({ taskHistory }: Ports, graph: number): Promise<number> {
  const counts = await taskHistory.count(graph);
  return allOf(counts) === 0 ? 0 : Math.min(percentOf(counts), 99);
}

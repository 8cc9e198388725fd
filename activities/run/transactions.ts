import { ApplicationFailure } from '@temporalio/activity';
import type { Fence } from '../../src/runs/claims.ts';
import { notFound, type RunTransactions, type Store, type TransactionRecord } from '../../src/store/index.ts';
import { ownExecution, proveClaim } from './fencing.ts';

/**
 * The transactions of a run that names them by their number: another run has that number where the store was restored from an older copy,
 * and has nothing to do with this one.
 */
export async function transactionsOf(
  store: Pick<Store, 'transactions'>,
  transaction: number,
  isOwn: (run: TransactionRecord) => boolean,
): Promise<RunTransactions> {
  const found = await store.transactions.getRun(transaction);
  if (isOwn(found.run)) return found;
  throw notFound('transaction of this run', String(transaction), 'The store was restored from an older copy.');
}

/** Whether the workflow of this activity, or its parent, has the transaction. */
function isOwn({ workflowId }: TransactionRecord): boolean {
  const own = ownExecution().workflowId;
  return own === workflowId || own.startsWith(`${workflowId}/`);
}

/** The graph that a request is about, with the run that it names. */
export async function graphOfRun(
  store: Store,
  { transaction, graph }: { readonly transaction: number; readonly graph: number },
): Promise<RunTransactions & { readonly child: TransactionRecord }> {
  const found = await transactionsOf(store, transaction, isOwn);
  const child = [...found.graphs, ...found.asking].find(({ id }) => id === graph);
  if (child !== undefined) return { ...found, child };
  throw ApplicationFailure.nonRetryable(`transaction ${graph} is not a graph of run ${transaction}`, 'NoSuchGraph');
}

/** As `proveClaim`, of the run with this transaction. The cluster may be deleted: nothing is claimed then. */
export const proveTransaction = async (fence: Fence, run: TransactionRecord): Promise<number> =>
  run.clusterId === null ? 1 : proveClaim(fence, { cluster: run.clusterId }, run.temporalRunId ?? '');

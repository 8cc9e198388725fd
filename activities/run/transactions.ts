import { ApplicationFailure } from '@temporalio/activity';
import type { Fence } from '../../src/runs/claims.ts';
import type { RunTransactions, Store, TransactionRecord } from '../../src/store/index.ts';
import { proveClaim } from './fencing.ts';

/** The graph that a request is about, with the run that it names. */
export async function graphOfRun(
  store: Store,
  { transaction, graph }: { readonly transaction: number; readonly graph: number },
): Promise<RunTransactions & { readonly child: TransactionRecord }> {
  const found = await store.transactions.getRun(transaction);
  const child = [...found.graphs, ...found.asking].find(({ id }) => id === graph);
  if (child !== undefined) return { ...found, child };
  throw ApplicationFailure.nonRetryable(`transaction ${graph} is not a graph of run ${transaction}`, 'NoSuchGraph');
}

/** As `proveClaim`, of the run with this transaction. The cluster may be deleted: nothing is claimed then. */
export const proveTransaction = async (fence: Fence, run: TransactionRecord): Promise<number> =>
  run.clusterId === null ? 1 : proveClaim(fence, { cluster: run.clusterId }, run.temporalRunId ?? '');

import { GRAPH_RUN_KIND, type TransactionEnd } from '../../src/core/words.ts';
import type { Store } from '../../src/store/index.ts';

/** Ends a run of graphs in the store as `src/runs` does: its record, which its transaction shows, and its graphs. */
export async function endStoredRun(
  store: Store,
  transaction: number,
  outcome: TransactionEnd,
  failure: string | null = null,
): Promise<void> {
  const { run } = await store.transactions.getRun(transaction);
  const endedAt = new Date().toISOString();
  await store.transactions.endGraphs(transaction, { status: outcome, timeEnd: endedAt });
  await store.runs.put({
    id: run.temporalRunId ?? `run-${transaction}`,
    number: transaction,
    sequence: 1_000,
    workflowId: run.workflowId ?? `execute_graph:${run.clusterId}:${transaction}`,
    kind: GRAPH_RUN_KIND,
    phase: 'finished',
    startedAt: run.timeStart ?? endedAt,
    endedAt,
    outcome,
    failure,
  });
}

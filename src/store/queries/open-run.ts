import type { Kysely } from 'kysely';
import { OPEN_TRANSACTION_STATUSES } from '../../core/words.ts';
import { StoreError } from '../failure.ts';
import type { Row, Tables } from '../tables.ts';
import { transactionsIn } from './transaction-row.ts';

/** The cluster's open run. Lock the cluster's row first: then there is at most one. */
export const findOpenRun = (db: Kysely<Tables>, clusterId: number): Promise<Row<'deploymentTransaction'> | undefined> =>
  transactionsIn(db)
    .where('clusterId', '=', clusterId)
    .where('parentId', 'is', null)
    .where('status', 'in', OPEN_TRANSACTION_STATUSES)
    .orderBy('id')
    .executeTakeFirst();

/** @throws StoreError of kind `conflict` naming the open run */
export async function assertNoOpenRun(db: Kysely<Tables>, clusterId: number, cluster: string): Promise<void> {
  const run = await findOpenRun(db, clusterId);
  if (run !== undefined) throw openRunConflict(run, cluster);
}

export function openRunConflict(run: Row<'deploymentTransaction'>, cluster: string): StoreError {
  const by = run.workflowId === null ? '' : `, workflow ${run.workflowId}`;
  const holder =
    run.workflowId === null || run.temporalRunId === null
      ? undefined
      : { workflowId: run.workflowId, runId: run.temporalRunId };
  return new StoreError({
    kind: 'conflict',
    transaction: run.id,
    ...(holder && { holder }),
    message: `Transaction ${run.id} (${run.name}${by}) of the cluster "${cluster}" is ${run.status}.`,
    hint: 'Wait until it ends or stop it, then try again.',
  });
}

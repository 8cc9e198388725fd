import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { dropContents } from './contents.ts';

/** Deletes transactions with their children, histories, reports and snapshots. */
export async function removeTransactions(transaction: Transaction<Tables>, ids: readonly number[]): Promise<void> {
  for (const batch of inBatches(ids)) {
    const children = transaction.selectFrom('deploymentTransaction').select('id').where('parentId', 'in', batch);
    const snapshots = await transaction
      .deleteFrom('transactionSnapshot')
      .where((eb) => eb.or([eb('transactionId', 'in', batch), eb('transactionId', 'in', children)]))
      .returning('content')
      .execute();
    await dropContents(
      transaction,
      snapshots.map((snapshot) => snapshot.content),
    );
    // Signed orders refer to the id as text, without a foreign key.
    const below = await children.execute();
    const runs = [...batch, ...below.map(({ id }) => id)].map(String);
    for (const some of inBatches(runs)) await transaction.deleteFrom('signedOrder').where('run', 'in', some).execute();
    await transaction.deleteFrom('deploymentTransaction').where('id', 'in', batch).execute();
  }
}

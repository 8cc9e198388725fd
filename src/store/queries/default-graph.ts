import type { Transaction } from 'kysely';
import type { GraphOwner } from '../ports/graph-store.js';
import type { Tables } from '../tables.js';
import { columnsOfOwner } from './owner-columns.js';

/** The empty graph of type `default` that a new release and a new cluster have. */
export async function createDefaultGraph(transaction: Transaction<Tables>, owner: GraphOwner): Promise<void> {
  const now = new Date().toISOString();
  await transaction
    .insertInto('graph')
    .values({
      ...columnsOfOwner(owner),
      type: 'default',
      name: null,
      nodeFilter: null,
      onSuccess: null,
      onError: null,
      onStop: null,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
}

import type { Transaction } from 'kysely';
import { InputCheck } from '../input.js';
import type { GraphOwner } from '../ports/graph-store.js';
import type { NewRow, Tables } from '../tables.js';
import { newRow } from './conversion.js';
import { insertRow } from './identified-row.js';
import { columnsOfOwner } from './owner-columns.js';

/** The row of an empty graph. */
export function newGraph(owner: GraphOwner | null, type: string | null): NewRow<'graph'> {
  const now = new Date().toISOString();
  const own = { ...columnsOfOwner(owner), type, createdAt: now, updatedAt: now };
  return newRow('graph', new InputCheck(), {}, own);
}

/** Creates the empty graph of type `default` of a new release or cluster. */
export async function createDefaultGraph(transaction: Transaction<Tables>, owner: GraphOwner): Promise<void> {
  await insertRow(transaction, 'graph', newGraph(owner, 'default'));
}

import type { Transaction } from 'kysely';
import { InputCheck } from '../input.ts';
import type { NewRow, Tables } from '../tables.ts';
import { newRow } from './conversion.ts';
import { insertRow } from './identified-row.ts';
import { columnsOfOwner, type GraphOwner } from './owner-columns.ts';

/** The row of an empty graph. */
export function newGraph(owner: GraphOwner, type: string): NewRow<'graph'> {
  const now = new Date().toISOString();
  const own = { ...columnsOfOwner(owner), type, createdAt: now, updatedAt: now };
  return newRow('graph', new InputCheck(), {}, own);
}

/** Creates the empty graph of type `default` of a new release or cluster. */
export async function createDefaultGraph(transaction: Transaction<Tables>, owner: GraphOwner): Promise<void> {
  await insertRow(transaction, 'graph', newGraph(owner, 'default'));
}

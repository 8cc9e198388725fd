import type { Transaction } from 'kysely';
import { InputCheck } from '../input.js';
import type { GraphOwner } from '../ports/graph-store.js';
import type { NewRow, Tables } from '../tables.js';
import { newRow } from './conversion.js';
import { insertRow } from './identified-row.js';
import { columnsOfOwner } from './owner-columns.js';

/** The row of a graph of which nothing more is known. */
export function newGraph(owner: GraphOwner | null, type: string | null): NewRow<'graph'> {
  const now = new Date().toISOString();
  const own = { ...columnsOfOwner(owner), type, createdAt: now, updatedAt: now };
  return newRow('graph', new InputCheck(), {}, own);
}

/** The empty graph of type `default` that a new release and a new cluster have. */
export async function createDefaultGraph(transaction: Transaction<Tables>, owner: GraphOwner): Promise<void> {
  await insertRow(transaction, 'graph', newGraph(owner, 'default'));
}

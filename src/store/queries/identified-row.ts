import type { Kysely, Selectable, Transaction } from 'kysely';
import { notFound, type StoreError } from '../failure.js';
import type { Tables } from '../tables.js';

/** Tables whose rows are known by a number, with what a row is called and how to find one. */
const NAMES = {
  package: ['package', 'List the packages that are installed, or install this one first.'],
  release: ['release', 'List the releases there are, or install a package with this one first.'],
  plugin: ['plugin', 'List the plugins there are, or install this one first.'],
  cluster: ['cluster', 'List the clusters there are, or create this one first.'],
  node: ['node', 'List the nodes there are.'],
  graph: ['graph', 'List the graphs there are.'],
  graphSequence: ['sequence', 'List the sequences there are.'],
  deploymentTransaction: ['transaction', 'List the transactions there are; this one may have been deleted.'],
  tag: ['tag', 'List the tags there are.'],
} as const;

type IdentifiedTable = keyof typeof NAMES;
type RowOf<T extends IdentifiedTable> = Selectable<Tables[T]>;

/** The part that all of these tables have, under one of their names: Kysely does not take a choice of names. */
interface Identified {
  any: { id: number; name: string };
}

/** Whether a number can be an id; PostgreSQL refuses to compare with others. */
export const isId = (id: number): boolean => Number.isSafeInteger(id) && id > 0;

export const rowNotFound = (table: IdentifiedTable, id: number): StoreError =>
  notFound(NAMES[table][0], String(id), NAMES[table][1]);

/** @throws StoreError of kind `not-found` */
export async function readRow<T extends IdentifiedTable>(db: Kysely<Tables>, table: T, id: number): Promise<RowOf<T>> {
  const rows = db as unknown as Kysely<Identified>;
  const row = isId(id)
    ? await rows
        .selectFrom(table as 'any')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw rowNotFound(table, id);
  return row as unknown as RowOf<T>;
}

/** @throws StoreError of kind `not-found` */
export async function assertRow(db: Kysely<Tables>, table: IdentifiedTable, id: number): Promise<void> {
  const rows = db as unknown as Kysely<Identified>;
  const row = isId(id)
    ? await rows
        .selectFrom(table as 'any')
        .select('id')
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw rowNotFound(table, id);
}

/**
 * Reads a row and keeps it for this transaction, as `holdSite` does.
 *
 * @throws StoreError of kind `not-found`
 */
export async function holdRow<T extends IdentifiedTable>(
  transaction: Transaction<Tables>,
  table: T,
  id: number,
): Promise<RowOf<T>> {
  const rows = transaction as unknown as Kysely<Identified>;
  const row = isId(id)
    ? await rows
        .updateTable(table as 'any')
        .set((column) => ({ name: column.ref('name') }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw rowNotFound(table, id);
  return row as unknown as RowOf<T>;
}

/** Removes a row and what goes with it. */
export async function deleteRow(transaction: Transaction<Tables>, table: IdentifiedTable, id: number): Promise<void> {
  const rows = transaction as unknown as Kysely<Identified>;
  await rows
    .deleteFrom(table as 'any')
    .where('id', '=', id)
    .execute();
}

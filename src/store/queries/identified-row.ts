import type { Kysely, Transaction } from 'kysely';
import { notFound, type StoreError } from '../failure.ts';
import type { NewRow, Row, Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';

/** Tables with numeric ids: the name of a row, and a hint for an unknown id. */
const NAMES = {
  package: ['package', 'List the installed packages, or install this one first.'],
  release: ['release', 'List the releases, or install a package with this one first.'],
  plugin: ['plugin', 'List the plugins, or install this one first.'],
  cluster: ['cluster', 'List the clusters, or create this one first.'],
  node: ['node', 'List the nodes.'],
  graph: ['graph', 'List the graphs.'],
  graphSequence: ['sequence', 'List the sequences.'],
  deploymentTransaction: ['transaction', 'List the transactions; this one may have been deleted.'],
  tag: ['tag', 'List the tags.'],
} as const;

type IdentifiedTable = keyof typeof NAMES;
/** Values of columns, as `matching` takes them. */
type Wanted<T extends IdentifiedTable> = {
  readonly [K in keyof Row<T>]?: Stored<T>[K] | readonly NonNullable<Stored<T>[K]>[] | null | undefined;
};

/** Common columns of these tables, under one name: Kysely does not accept a union of names. */
interface Identified {
  any: { id: number; name: string };
}
const identified = (db: Kysely<Tables>) => db as unknown as Kysely<Identified>;
const anyTable = (table: IdentifiedTable) => table as 'any';

/** Whether a number can be an id; PostgreSQL refuses to compare ids with other numbers. */
export const isId = (id: number): boolean => Number.isSafeInteger(id) && id > 0;

export const rowNotFound = (table: IdentifiedTable, id: number): StoreError =>
  notFound(NAMES[table][0], String(id), NAMES[table][1]);

/** The row that the query finds. @throws StoreError of kind `not-found` */
async function found<R>(
  table: IdentifiedTable,
  id: number,
  query: { executeTakeFirst(): Promise<R | undefined> },
): Promise<R> {
  const row = isId(id) ? await query.executeTakeFirst() : undefined;
  if (row === undefined) throw rowNotFound(table, id);
  return row;
}

/** @throws StoreError of kind `not-found` */
export async function readRow<T extends IdentifiedTable>(db: Kysely<Tables>, table: T, id: number): Promise<Row<T>> {
  const query = identified(db).selectFrom(anyTable(table)).selectAll().where('id', '=', id);
  return (await found(table, id, query)) as Row<T>;
}

/** @throws StoreError of kind `not-found` */
export async function assertRow(db: Kysely<Tables>, table: IdentifiedTable, id: number): Promise<void> {
  await found(table, id, identified(db).selectFrom(anyTable(table)).select('id').where('id', '=', id));
}

/**
 * Locks a row for this transaction, as `holdSite` does, without reading it: that of a large cluster has megabytes.
 *
 * @returns its name
 * @throws StoreError of kind `not-found`
 */
export async function lockRow(transaction: Transaction<Tables>, table: IdentifiedTable, id: number): Promise<string> {
  return (await found(table, id, locking(transaction, table, id).returning('name'))).name;
}

/** Locks a row and reads it. @throws StoreError of kind `not-found` */
export async function holdRow<T extends IdentifiedTable>(
  transaction: Transaction<Tables>,
  table: T,
  id: number,
): Promise<Row<T>> {
  return (await found(table, id, locking(transaction, table, id).returningAll())) as Row<T>;
}

const locking = (transaction: Transaction<Tables>, table: IdentifiedTable, id: number) =>
  identified(transaction)
    .updateTable(anyTable(table))
    .set((column) => ({ name: column.ref('name') }))
    .where('id', '=', id);

/** Matching rows by id, ascending. */
export async function listRows<T extends IdentifiedTable>(
  db: Kysely<Tables>,
  table: T,
  wanted: Wanted<T>,
): Promise<Row<T>[]> {
  return (await wantedRows(db, table, wanted).execute()) as Row<T>[];
}

/** The matching row with the lowest id. */
export async function findRow<T extends IdentifiedTable>(
  db: Kysely<Tables>,
  table: T,
  wanted: Wanted<T>,
): Promise<Row<T> | undefined> {
  return (await wantedRows(db, table, wanted).limit(1).executeTakeFirst()) as Row<T> | undefined;
}

const wantedRows = (db: Kysely<Tables>, table: IdentifiedTable, wanted: object) =>
  matching(identified(db).selectFrom(anyTable(table)).selectAll(), wanted).orderBy('id');

/** Inserts a row. `taken`: the error to throw if another row has a unique value; without it, that is a defect. */
export async function insertRow<T extends IdentifiedTable>(
  transaction: Transaction<Tables>,
  table: T,
  row: NewRow<T>,
  taken?: () => StoreError,
): Promise<Row<T>> {
  const insert = identified(transaction)
    .insertInto(anyTable(table))
    .values(row as never);
  const unlessTaken = taken === undefined ? insert : insert.onConflict((on) => on.doNothing());
  return (await unlessTaken.returningAll().executeTakeFirstOrThrow(taken)) as Row<T>;
}

/** Sets columns of a locked row. */
export async function updateRow<T extends IdentifiedTable>(
  transaction: Transaction<Tables>,
  table: T,
  id: number,
  columns: Partial<Row<T>>,
): Promise<Row<T>> {
  const update = identified(transaction)
    .updateTable(anyTable(table))
    .set(columns as never)
    .where('id', '=', id);
  return (await update.returningAll().executeTakeFirstOrThrow()) as Row<T>;
}

/** Deletes a row and everything that cascades from it. */
export async function deleteRow(transaction: Transaction<Tables>, table: IdentifiedTable, id: number): Promise<void> {
  await identified(transaction).deleteFrom(anyTable(table)).where('id', '=', id).execute();
}

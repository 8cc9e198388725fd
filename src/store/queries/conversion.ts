import { type RawBuilder, sql } from 'kysely';
import type { InputCheck } from '../input.ts';
import type { Column } from '../tables/column.ts';
import {
  type Change,
  type New,
  type NewRow,
  type Own,
  type Row,
  type Stored,
  type TableName,
  tables,
} from '../tables.ts';

/** A column whose value types only the callers know. */
type AnyColumn = Column<
  unknown,
  unknown,
  unknown,
  'required' | 'derived' | 'optional' | 'later' | 'internal' | 'serial'
>;
type Source = AnyColumn['settings']['from'];
type Values = Readonly<Record<string, unknown>>;

const GIVEN: ReadonlySet<Source> = new Set(['required', 'derived', 'optional'] as const);
const CHANGED: ReadonlySet<Source> = new Set([...GIVEN, 'later'] as const);

/** Data of a table for the conversions, computed once. */
const known = new Map<string, ReturnType<typeof digest>>();
for (const [table, columns] of Object.entries<Readonly<Record<string, AnyColumn>>>(tables)) {
  known.set(table, digest(columns));
}

function digest(declared: Readonly<Record<string, AnyColumn>>) {
  const columns = Object.entries(declared);
  const decoders = columns.flatMap(([name, { rules }]) => (rules.decode ? [[name, rules.decode] as const] : []));
  const initial = columns.flatMap(([name, { settings }]) =>
    settings.initial === undefined ? [] : [[name, settings.initial] as const],
  );
  return { columns, decoders, initial: Object.fromEntries(initial) };
}

/** Names of a table's columns, without those left out. */
export function columnsWithout<T extends TableName, K extends keyof Row<T>>(
  table: T,
  ...left: readonly K[]
): readonly Exclude<keyof Row<T> & string, K>[] {
  const isLeft: ReadonlySet<unknown> = new Set(left);
  return Object.keys(tables[table]).filter((name) => !isLeft.has(name)) as never;
}

/** Converts a row, or some of its columns, for callers. */
export function recordOf<T extends TableName, K extends keyof Row<T>>(table: T, row: Pick<Row<T>, K>) {
  const record: Record<string, unknown> = { ...row };
  for (const [name, decode] of known.get(table)?.decoders ?? [])
    if (name in record) record[name] = decode(record[name]);
  return record as Pick<Stored<T>, K>;
}

/** Problems with a value go to `check` under its path. */
function encoded(
  table: TableName,
  check: InputCheck,
  given: Values,
  sources: ReadonlySet<Source>,
  own: Values,
  at: string,
): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  for (const [name, { rules, settings }] of known.get(table)?.columns ?? []) {
    const value = own[name] === undefined && sources.has(settings.from) ? given[name] : own[name];
    if (value === undefined || (value === null && !settings.isNullable)) continue;
    row[name] = rules.encode(value, check, at + name);
  }
  return row;
}

/** The columns that a change sets, as stored. */
export const changedColumns = <T extends TableName>(table: T, check: InputCheck, change: Change<T>, at = '') =>
  encoded(table, check, change, CHANGED, {}, at) as Partial<Row<T>>;

/** A complete new row; a column with no value from the caller or the store gets its initial value. */
export function newRow<T extends TableName>(table: T, check: InputCheck, given: New<T>, own: Own<T>, at = '') {
  const row: Record<string, unknown> = { ...initialRow(table), ...givenColumns(table, check, given, own, at) };
  return row as NewRow<T>;
}

/** The columns of a new row that have a given value. */
export const givenColumns = <T extends TableName>(table: T, check: InputCheck, given: New<T>, own: Own<T>, at = '') =>
  encoded(table, check, given, GIVEN, own, at) as Partial<NewRow<T>>;

export const initialRow = <T extends TableName>(table: T) => ({ ...known.get(table)?.initial }) as Partial<NewRow<T>>;

/** For `on conflict`: sets the columns to the values of the row to insert. */
export function replacing<T extends TableName>(names: readonly (keyof Row<T> & string)[]) {
  const entries = names.map((name) => [name, sql.ref(`excluded.${name}`)]);
  return Object.fromEntries(entries) as { [K in keyof Row<T>]?: RawBuilder<Row<T>[K]> };
}

/**
 * Merges a write of a run, or of a node of a run, into its row. In columns declared `newest()`, a write with a higher
 * sequence than all before decides; in the others, the first value stays. Pure, so that repeated and late writes are
 * easy to reason about. Returns the stored row itself if nothing changes.
 */
export function mergedRow<T extends 'run' | 'runNode'>(
  table: T,
  stored: Row<T> | undefined,
  write: Partial<Row<T>> & { readonly sequence?: number },
): Row<T> {
  if (stored === undefined) return { ...initialRow(table), ...write } as Row<T>;
  const columns: Readonly<Record<string, { readonly settings: { readonly newestDecides: boolean } }>> = tables[table];
  const before: Readonly<Record<string, unknown>> = stored;
  const isNewer = (write.sequence ?? 0) > stored.sequence;
  const changed: Record<string, unknown> = {};
  let isSame = true;
  for (const [name, value] of Object.entries(write)) {
    if (value === before[name] || !(columns[name]?.settings.newestDecides ? isNewer : before[name] === null)) continue;
    changed[name] = value;
    isSame = false;
  }
  return isSame ? stored : { ...stored, ...changed };
}

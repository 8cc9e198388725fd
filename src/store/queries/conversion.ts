import { type RawBuilder, sql } from 'kysely';
import type { InputCheck } from '../input.js';
import type { Column } from '../tables/column.js';
import {
  type Change,
  type New,
  type NewRow,
  type Own,
  type Row,
  type Stored,
  type TableName,
  tables,
} from '../tables.js';

/** A column whose values only pass through here, from and to callers that know the types of its table. */
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

/** What the conversions need of a table, looked up once. */
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

/** Names of a table's columns, without some. */
export function columnsWithout<T extends TableName, K extends keyof Row<T>>(
  table: T,
  ...left: readonly K[]
): readonly Exclude<keyof Row<T> & string, K>[] {
  const isLeft: ReadonlySet<unknown> = new Set(left);
  return Object.keys(tables[table]).filter((name) => !isLeft.has(name)) as never;
}

/** A row, or some of its columns, as callers see it. */
export function recordOf<T extends TableName, K extends keyof Row<T>>(table: T, row: Pick<Row<T>, K>) {
  const record: Record<string, unknown> = { ...row };
  for (const [name, decode] of known.get(table)?.decoders ?? [])
    if (name in record) record[name] = decode(record[name]);
  return record as Pick<Stored<T>, K>;
}

/** What is wrong with a value is noted under its path. */
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

/** The columns that a change sets, as they are stored. */
export const changedColumns = <T extends TableName>(table: T, check: InputCheck, change: Change<T>, at = '') =>
  encoded(table, check, change, CHANGED, {}, at) as Partial<Row<T>>;

/** A whole new row; a column that neither the caller nor the store gives a value has its initial one. */
export function newRow<T extends TableName>(table: T, check: InputCheck, given: New<T>, own: Own<T>, at = '') {
  const row: Record<string, unknown> = { ...initialRow(table), ...givenColumns(table, check, given, own, at) };
  return row as NewRow<T>;
}

/** The columns of a new row that are given a value. */
export const givenColumns = <T extends TableName>(table: T, check: InputCheck, given: New<T>, own: Own<T>, at = '') =>
  encoded(table, check, given, GIVEN, own, at) as Partial<NewRow<T>>;

export const initialRow = <T extends TableName>(table: T) => ({ ...known.get(table)?.initial }) as Partial<NewRow<T>>;

/** For `on conflict`: the columns set to those of the row that was to be inserted. */
export function replacing<T extends TableName>(names: readonly (keyof Row<T> & string)[]) {
  const entries = names.map((name) => [name, sql.ref(`excluded.${name}`)]);
  return Object.fromEntries(entries) as { [K in keyof Row<T>]?: RawBuilder<Row<T>[K]> };
}

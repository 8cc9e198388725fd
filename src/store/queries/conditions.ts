import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { InputCheck, storable } from '../input.ts';

type Value = string | number | boolean;
/** One value, one of several, or null; undefined matches anything. */
type Wanted = Value | null | undefined | readonly Value[];

const NOTHING = sql<SqlBool>`1 = 0`;

/** PostgreSQL refuses to compare its integers with other numbers. */
const isComparable = (value: Value): boolean => typeof value !== 'number' || Number.isSafeInteger(value);
const asStored = (value: Value) =>
  typeof value === 'string' ? storable(value) : typeof value === 'boolean' ? Number(value) : value;

/** The rows whose columns have the given values; an empty list of values matches nothing. */
export function matching<DB, T extends keyof DB, O>(
  query: SelectQueryBuilder<DB, T, O>,
  wanted: { readonly [K in keyof NoInfer<DB>[NoInfer<T>]]?: Wanted },
): SelectQueryBuilder<DB, T, O> {
  let matched = query;
  for (const [column, value] of Object.entries<Wanted>(wanted)) {
    if (value === undefined) continue;
    if (value === null) matched = matched.where(sql.ref(column), 'is', null);
    else if (typeof value === 'object') {
      const values = value.filter(isComparable).map(asStored);
      matched = values.length === 0 ? matched.where(NOTHING) : matched.where(sql.ref(column), 'in', values);
    } else
      matched = isComparable(value) ? matched.where(sql.ref(column), '=', asStored(value)) : matched.where(NOTHING);
  }
  return matched;
}

/** ISO 8601. */
interface Period {
  /** Inclusive. */
  readonly since?: string;
  /** Exclusive. */
  readonly until?: string;
}

/** Checks a period. @throws StoreError of kind `invalid` */
export function readPeriod({ since, until }: Period) {
  const check = new InputCheck();
  const period = {
    since: since === undefined ? undefined : check.time('since', since),
    until: until === undefined ? undefined : check.time('until', until),
  };
  check.done();
  return period;
}

/** The rows whose time is in the period. */
export function within<DB, T extends keyof DB, O>(
  query: SelectQueryBuilder<DB, T, O>,
  column: keyof DB[T] & string,
  { since, until }: ReturnType<typeof readPeriod>,
): SelectQueryBuilder<DB, T, O> {
  let matched = query;
  if (since !== undefined) matched = matched.where(sql.ref(column), '>=', since);
  if (until !== undefined) matched = matched.where(sql.ref(column), '<', until);
  return matched;
}

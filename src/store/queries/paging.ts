import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { InputCheck } from '../input.ts';
import type { Page, PageRequest } from '../page.ts';

const USUAL_LIMIT = 50;
const HIGHEST_LIMIT = 1000;

type KeyPart = string | number;
/** A row's sort key, e.g. `[startedAt, id]`. */
type RowKey = readonly KeyPart[];

/** The order of a list: its columns with their value types, which together are the key of a row. */
export interface Sorting {
  readonly direction: 'asc' | 'desc';
  readonly columns: Readonly<Record<string, 'string' | 'number'>>;
  /** An index finds the few rows that are wanted. SQLite would rather walk the index of this order, past all others. */
  readonly found?: boolean;
}

export const newestFirst = (columns: Sorting['columns']): Sorting => ({ direction: 'desc', columns });

/** A checked request for a page. */
interface WantedPage {
  readonly order: Sorting;
  readonly limit: number;
  readonly after: RowKey | undefined;
}

/**
 * Checks a request for a page. Pages start after the key of the last row seen, not at an offset, so rows added
 * meanwhile shift nothing.
 *
 * @throws StoreError of kind `invalid`
 */
export function readPage(request: PageRequest, order: Sorting): WantedPage {
  const check = new InputCheck();
  const limit = request.limit ?? USUAL_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT) {
    check.refuse('limit', `limit is ${limit}.`, `Use 1 to ${HIGHEST_LIMIT}; page on with "before".`);
  }
  const after = request.before === undefined ? undefined : decode(request.before, Object.values(order.columns));
  if (after === null) {
    check.refuse('before', 'before is not the "next" of a page in this list.', 'Start again without it.');
  }
  check.done();
  return { order, limit, after: after ?? undefined };
}

/** Reads a page of a query. `keyOf` returns a row's values for the order's columns. */
export async function fetchPage<DB, T extends keyof DB, O, V>(
  query: SelectQueryBuilder<DB, T, O>,
  { order, limit, after }: WantedPage,
  keyOf: (row: O) => RowKey,
  show: (row: O) => V,
): Promise<Page<V>> {
  const columns = Object.keys(order.columns).map((column) => sql.ref(column));
  let ordered = query;
  if (after !== undefined) {
    const [key, seen] = [sql`(${sql.join(columns)})`, sql`(${sql.join(after)})`];
    ordered = ordered.where(
      order.direction === 'desc' ? sql<SqlBool>`${key} < ${seen}` : sql<SqlBool>`${key} > ${seen}`,
    );
  }
  for (const [at, column] of columns.entries())
    ordered = ordered.orderBy(order.found && at === 0 ? sql`+${column}` : column, order.direction);
  // The extra row shows that there are more pages.
  const rows = await ordered.limit(limit + 1).execute();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map(show),
    next: last === undefined ? null : Buffer.from(JSON.stringify(keyOf(last))).toString('base64url'),
  };
}

function decode(text: string, kinds: readonly ('string' | 'number')[]): RowKey | null {
  try {
    const key: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (!Array.isArray(key) || key.length !== kinds.length) return null;
    // We never issue a NUL, and PostgreSQL would refuse it.
    const sound = key.every((part, index) => typeof part === kinds[index] && !String(part).includes('\0'));
    return sound && key.every((part) => typeof part === 'string' || Number.isSafeInteger(part)) ? key : null;
  } catch {
    return null;
  }
}

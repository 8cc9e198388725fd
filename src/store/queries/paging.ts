import { InputCheck } from '../input.js';
import type { Page, PageRequest } from '../ports/page.js';

const USUAL_LIMIT = 50;
const HIGHEST_LIMIT = 1000;

/** The key of a row in the order of its list, e.g. `[startedAt, id]`. */
export type RowKey = readonly (string | number)[];

/**
 * Checks a request for a page. `kinds` are the types of the key's parts. Lists are cut by the key of the last row seen,
 * never by a count of rows: so rows added meanwhile shift nothing.
 *
 * @throws StoreError of kind `invalid`
 */
export function readPage<K extends RowKey>(
  page: PageRequest,
  kinds: { readonly [I in keyof K]: 'string' | 'number' },
): { readonly limit: number; readonly after: K | undefined } {
  const check = new InputCheck();
  const limit = page.limit ?? USUAL_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT) {
    check.refuse('limit', `limit is ${limit}.`, `Use 1 to ${HIGHEST_LIMIT}; page on with "before".`);
  }
  const after = page.before === undefined ? undefined : decode(page.before, kinds);
  if (after === null) {
    check.refuse('before', 'before is not the "next" of a page of this list.', 'Start again without it.');
  }
  check.done();
  return { limit, after: (after ?? undefined) as K | undefined };
}

/** Makes a page of rows fetched with a limit one higher than asked for: the one too many tells that there is more. */
export function pageOf<R, T>(
  rows: readonly R[],
  limit: number,
  keyOf: (row: R) => RowKey,
  show: (row: R) => T,
): Page<T> {
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
    // A NUL cannot have come from us, and PostgreSQL would not take it.
    const sound = key.every((part, index) => typeof part === kinds[index] && !String(part).includes('\0'));
    return sound && key.every((part) => typeof part === 'string' || Number.isSafeInteger(part)) ? key : null;
  } catch {
    return null;
  }
}

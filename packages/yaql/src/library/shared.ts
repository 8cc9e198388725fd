import { YaqlError } from '../errors.ts';
import type { Context } from '../runtime/context.ts';
import { Dict, DictView, Tuple, ValueSet } from '../values/collections.ts';
import { LazyIterator, MemorizedIterator } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { Float, type Integer } from '../values/numbers.ts';
import { withoutEnd } from '../values/text-ends.ts';
import { TimeSpan } from '../values/time.ts';

/** False are false, null, zero, and empty strings, lists, dicts and sets; iterators are always true. */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
    default:
      if (value === null) return false;
      if (Array.isArray(value)) return value.length > 0;
      if (value instanceof Tuple) return value.items.length > 0;
      if (value instanceof Dict || value instanceof ValueSet || value instanceof DictView) return value.size > 0;
      if (value instanceof Float) return value.value !== 0;
      if (value instanceof TimeSpan) return value.microseconds !== 0n;
      return true;
  }
}

/** An iterator made replayable; other values as they are. */
export function memorize(context: Context, value: Value): Value {
  if (!(value instanceof LazyIterator)) return value;
  const source = value instanceof MemorizedIterator ? value.restart().next : value.next;
  const runtime = context.runtime;
  return new MemorizedIterator(source, (drawn) => {
    if (runtime.quota > 0) runtime.checkMemory(drawn as Value[]);
  });
}

/** An integer as an index or count: beyond the safe range it is as good as the bound of that range. */
export function toIndex(x: Integer): number {
  if (typeof x === 'number') return x;
  return x < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

/** An integer as a size: OverflowError where it does not fit a machine word. */
export function toSize(x: Integer): number {
  if (typeof x === 'bigint' && (x > 9_223_372_036_854_775_807n || x < -9_223_372_036_854_775_808n))
    throw new YaqlError('OverflowError', 'Python int too large to convert to C ssize_t');
  return toIndex(x);
}

export const stopIteration = (message: string): YaqlError => new YaqlError('StopIteration', message);

/** Names of functions are camel case: the name of a definition spelled with underscores. */
export function functionNameFor(name: string): string {
  const plain = withoutEnd(name, '_');
  if (plain === '') return plain;
  if (!/^\p{L}/u.test(plain)) {
    const end = plain.indexOf(plain[0] as string, 1);
    return end <= 1 ? plain : plain.slice(0, end + 1) + camelCase(plain.slice(end + 1));
  }
  return camelCase(plain);
}

const camelCase = (name: string): string =>
  name.replace(/(?!^)_([\p{L}\p{N}_])/gu, (_, letter: string) => letter.toUpperCase());

import { YaqlError } from '../errors.ts';
import { type Value, ValueObject } from './kind.ts';
import { Float } from './numbers.ts';

/**
 * A JavaScript Map key that is the same for equal values and different for unequal ones. Strings and small integers
 * are their own key; composite values become a text that starts with NUL; objects without an equality of their own
 * are keyed by identity.
 */
export type HashKey = string | number | bigint | null | object;

/** TypeError for values unhashable in Python: mutable lists, dicts, sets and views. */
export function hashKey(value: Value): HashKey {
  switch (typeof value) {
    case 'string':
      // Real strings that start with NUL step aside for the composite keys.
      return value.charCodeAt(0) === 0 ? `\0s${value}` : value;
    case 'number':
    case 'bigint':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    default:
      if (value === null) return null;
      if (value instanceof Float) return floatKey(value);
      if (value instanceof ValueObject) return value.hashKey();
      if (Array.isArray(value)) throw new YaqlError('TypeError', "unhashable type: 'list'");
      return value;
  }
}

function floatKey(value: Float): HashKey {
  const x = value.value;
  if (Number.isNaN(x)) return value;
  if (!Number.isFinite(x)) return x;
  return Number.isSafeInteger(x) ? x + 0 : BigInt(x);
}

import {
  Dict,
  DictView,
  Float,
  isUndefinedMarker,
  iterate,
  kindName,
  kindOf,
  LazyIterator,
  TimeSpan,
  Tuple,
  type Value,
  ValueSet,
} from '@sitewright/yaql';
import { setKey } from '../../core/data/plain-value.ts';
import { GraphProblemError } from '../problem.ts';

/**
 * The value of an expression as JSON data. Keys that are not text become text, as in JSON written by Python. Throws
 * GraphProblemError for values JSON cannot express: times, patterns, an undefined old value.
 */
export function toPlain(value: Value): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Float) return finite(value.value);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Dict) {
    const out: Record<string, unknown> = {};
    for (const [key, item] of value.entries()) setKey(out, keyText(key), toPlain(item));
    return out;
  }
  const items = isUndefinedMarker(value) ? undefined : itemsOf(value);
  if (items !== undefined) return items.map(toPlain);
  const kind = isUndefinedMarker(value) ? 'undefined (there is no old value)' : kindName(kindOf(value));
  throw new GraphProblemError(
    'graph.no-json-value',
    `the expression gives ${kind}, which a task cannot contain`,
    'Convert it to text, a number, a list or a mapping.',
  );
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new GraphProblemError(
    'graph.no-json-value',
    'the expression gives an infinite number',
    'JSON has no infinity: use another number.',
  );
}

function itemsOf(value: Value): Value[] | undefined {
  const iterable =
    value instanceof Tuple || value instanceof ValueSet || value instanceof DictView || value instanceof LazyIterator;
  return iterable ? [...iterate(value)] : undefined;
}

/** The value of a condition: text unchanged, otherwise its truth by Python's rules. */
export function conditionValue(value: Value): string | boolean {
  if (typeof value === 'string') return value;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof Dict || value instanceof ValueSet) return value.size > 0;
  if (value instanceof Tuple) return value.items.length > 0;
  if (value instanceof TimeSpan) return value.microseconds !== 0n;
  return Array.isArray(value) ? value.length > 0 : value !== 0n && Boolean(value);
}

function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  if (key === null || typeof key === 'boolean' || typeof key === 'number' || typeof key === 'bigint')
    return String(key);
  if (key instanceof Float) return String(key.value);
  throw new GraphProblemError(
    'graph.no-json-value',
    'the expression gives a mapping whose key is neither text nor a number',
    'Use text as keys.',
  );
}

import { Dict, Tuple, ValueSet } from './collections.ts';
import { DONE, isIterableValue, iterate, LazyIterator, pullFrom } from './iterators.ts';
import { type Value, ValueObject } from './kind.ts';
import { Float } from './numbers.ts';
import { DateTime } from './time.ts';

/** How lists, dicts and sets of the host become values; `lazy`: mutable, each dict when it is first looked into. */
type Conversion = 'mutable' | 'immutable' | 'lazy';

/**
 * A value of the host as a value of the language. Plain objects and Maps become dicts, arrays lists, Sets sets, other
 * iterables one-shot iterators, Dates times in UTC; `undefined` and functions become null. Numbers without a fraction
 * are integers, beyond the safe range floats; use `Float` for a float like 1.0 and bigint for exact large integers.
 * Values of the language pass through. `immutable` is what expressions expect of their data unless input conversion
 * is off; `mutable` values do not hash. What is `lazy` must not change any more.
 */
export function fromHost(value: unknown, conversion: Conversion = 'immutable'): Value {
  const frozen = conversion === 'immutable';
  const convert = (v: unknown): Value => {
    switch (typeof v) {
      case 'string':
      case 'boolean':
        return v;
      case 'bigint':
        return v >= -9007199254740991n && v <= 9007199254740991n ? Number(v) : v;
      case 'number':
        return fromNumber(v);
      case 'object':
        return v === null ? null : fromObject(v);
      default:
        return null;
    }
  };
  const fromObject = (v: object): Value => {
    if (v instanceof ValueObject) return frozen ? freeze(v) : v;
    if (Array.isArray(v)) return frozen ? new Tuple(v.map(convert)) : v.map(convert);
    if (v instanceof Map) return dict(v);
    if (v instanceof Set) return new ValueSet([...v].map(convert), frozen);
    if (v instanceof Date) return new DateTime(BigInt(v.getTime()) * 1000n, 0n);
    if (Symbol.iterator in v) return lazyItems((v as Iterable<unknown>)[Symbol.iterator]());
    if (conversion === 'lazy') return new Dict(false, () => entriesOf(v));
    return dict(Object.entries(v));
  };
  function* entriesOf(v: object): Generator<readonly [Value, Value]> {
    for (const [key, item] of Object.entries(v)) yield [key, convert(item)];
  }
  const dict = (entries: Iterable<readonly [unknown, unknown]>): Dict => {
    const out = new Dict(frozen);
    for (const [key, item] of entries) out.set(convert(key), convert(item));
    return out;
  };
  const lazyItems = (iterator: Iterator<unknown>): LazyIterator =>
    new LazyIterator(() => {
      const step = iterator.next();
      return step.done === true ? DONE : convert(step.value);
    });
  return convert(value);
}

function fromNumber(x: number): Value {
  if (Number.isSafeInteger(x)) return x + 0;
  return Number.isInteger(x) || !Number.isFinite(x) ? new Float(x) : x;
}

/** Input conversion of a value of the language: lists to tuples, dicts to frozen ones, other iterables to iterators. */
function freeze(value: Value): Value {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return new Tuple(value.map(freeze));
  if (value instanceof Tuple) return new Tuple(value.items.map(freeze));
  if (value instanceof Dict) {
    const out = new Dict(true);
    for (const [key, item] of value.entries()) out.set(freeze(key), freeze(item));
    return out;
  }
  if (value instanceof ValueSet && !value.frozen) return new ValueSet([...value].map(freeze));
  if (!isIterableValue(value)) return value;
  const pull = pullFrom(value);
  return new LazyIterator(() => {
    const item = pull();
    return item === DONE ? DONE : freeze(item);
  });
}

/**
 * A value of the language for the host: dicts become objects (Maps when a key is not a string), lists, sets and
 * iterators arrays, floats numbers, integers beyond the safe range stay bigint. Times and patterns stay as they are.
 */
export function toHost(value: Value): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Float) return value.value;
  if (value instanceof Dict) {
    const entries = [...value.entries()];
    if (entries.some(([key]) => typeof key !== 'string'))
      return new Map(entries.map(([k, v]) => [toHost(k), toHost(v)]));
    const out: Record<string, unknown> = {};
    // Defined, not assigned: `__proto__` is a key like any other.
    for (const [key, item] of entries)
      Object.defineProperty(out, key as string, {
        value: toHost(item),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return out;
  }
  return isIterableValue(value) ? [...iterate(value)].map(toHost) : value;
}

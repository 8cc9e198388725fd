import { valueError } from './errors.ts';
import { compileRegex, Regex } from './regex/regex.ts';
import { Context } from './runtime/context.ts';
import { Lambda } from './runtime/lambda.ts';
import { Dict, DictView, Tuple, ValueSet } from './values/collections.ts';
import { isIterableValue, iterate, LazyIterator, lazily } from './values/iterators.ts';
import type { Value } from './values/kind.ts';
import { floatText, parseFloatText } from './values/number-text.ts';
import { Float, integer } from './values/numbers.ts';
import { DateTime, daysFromCivil, isoText, TimeSpan } from './values/time.ts';
import { isUndefinedMarker, undefinedMarker } from './values/undefined-marker.ts';

/**
 * The encoding of values in JSON that conformance records and `sitewright yaql eval --batch` use: plain JSON is itself,
 * everything else is an object with `$type`.
 */
export type Encoded = null | boolean | number | string | readonly Encoded[] | { readonly [key: string]: Encoded };

/** Decodes JSON (as `JSON.parse` gives it); lists and dicts are mutable, as they are before input conversion. */
export function decodeValue(encoded: unknown): Value {
  if (encoded === null || typeof encoded === 'boolean' || typeof encoded === 'string') return encoded;
  if (typeof encoded === 'number')
    return Number.isInteger(encoded) && !Number.isSafeInteger(encoded) ? new Float(encoded) : encoded + 0;
  if (Array.isArray(encoded)) return encoded.map(decodeValue);
  if (typeof encoded !== 'object') throw valueError('not a JSON value');
  const object = encoded as Record<string, unknown>;
  if (Object.hasOwn(object, '$type')) return decodeTyped(object);
  return Dict.of(
    Object.entries(object).map(([key, value]) => [key, decodeValue(value)] as const),
    false,
  );
}

function decodeTyped(object: Record<string, unknown>): Value {
  const items = (): Value[] => (object.items as unknown[]).map(decodeValue);
  switch (object.$type) {
    case 'int':
      return integer(BigInt(object.value as string));
    case 'float':
      return parseFloatText(object.value as string);
    case 'tuple':
      return new Tuple(items());
    case 'set':
      return new ValueSet(items(), false);
    case 'map':
      return Dict.of(
        (object.entries as [unknown, unknown][]).map(
          ([key, value]) => [decodeKey(decodeValue(key)), decodeValue(value)] as const,
        ),
        false,
      );
    case 'iterator':
      return lazily(items()[Symbol.iterator]());
    case 'datetime':
      return decodeDateTime(object.iso as string, object.utcOffsetSeconds as number);
    case 'timespan':
      return new TimeSpan(BigInt(object.microseconds as number | string));
    case 'regex':
      return compileRegex(object.pattern as string, {
        ignoreCase: object.ignoreCase === true,
        multiLine: object.multiLine === true,
        dotAll: object.dotAll === true,
      });
    case 'undefined':
      return undefinedMarker;
    default:
      throw valueError(`unknown $type ${String(object.$type)}`);
  }
}

/** A list as a key can only have been a tuple. */
const decodeKey = (key: Value): Value => (Array.isArray(key) ? new Tuple(key.map(decodeKey)) : key);

function decodeDateTime(iso: string, offsetSeconds: number): DateTime {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?/.exec(iso);
  if (found === null) throw valueError(`not a datetime: ${iso}`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  const seconds = daysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  const offset = BigInt(Math.round((offsetSeconds ?? 0) * 1e6));
  return new DateTime(BigInt(seconds) * 1_000_000n + BigInt((found[7] ?? '').padEnd(6, '0')) - offset, offset);
}

const typed = (type: string, more: Record<string, Encoded> = {}): Encoded => ({ $type: type, ...more });

/** Encodes a value; the opposite of {@link decodeValue}. */
export function encodeValue(value: Value): Encoded {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value;
    case 'bigint':
      return typed('int', { value: value.toString() });
    default:
      return value === null ? null : encodeObject(value);
  }
}

function encodeObject(value: object): Encoded {
  if (value instanceof Float) return typed('float', { value: floatText(value.value) });
  if (Array.isArray(value)) return value.map(encodeValue);
  if (value instanceof Tuple) return typed('tuple', { items: value.items.map(encodeValue) });
  if (value instanceof Dict) return encodeDict(value);
  if (value instanceof ValueSet || (value instanceof DictView && value.part !== 'values')) return encodeSet(value);
  if (value instanceof DateTime)
    return typed('datetime', { iso: isoText(value), utcOffsetSeconds: Number(value.offset) / 1e6 });
  if (value instanceof TimeSpan) {
    const exact = Number(value.microseconds);
    return typed('timespan', { microseconds: Number.isSafeInteger(exact) ? exact : value.microseconds.toString() });
  }
  if (value instanceof Regex) return typed('regex', { pattern: value.pattern, ...value.options });
  if (value instanceof Context) return typed('context');
  if (value instanceof Lambda) return typed('function');
  if (isUndefinedMarker(value)) return typed('undefined');
  if (value instanceof LazyIterator || isIterableValue(value))
    return typed('iterator', { items: [...iterate(value)].map(encodeValue) });
  return typed('object');
}

function encodeDict(dict: Dict): Encoded {
  const entries = [...dict.entries()];
  if (entries.some(([key]) => typeof key !== 'string' || key === '$type'))
    return typed('map', { entries: entries.map(([key, item]) => [encodeValue(key), encodeValue(item)]) });
  const out: Record<string, Encoded> = {};
  for (const [key, item] of entries)
    Object.defineProperty(out, key as string, {
      value: encodeValue(item),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return out;
}

function encodeSet(set: Iterable<Value>): Encoded {
  const items = [...set].map(encodeValue);
  const key = (item: Encoded): string => JSON.stringify(item);
  return typed('set', { items: items.sort((a, b) => (key(a) < key(b) ? -1 : 1)) });
}

import { YaqlError } from '../errors.ts';
import { Regex } from '../regex/regex.ts';
import { AnyOf, Dict, DictView, Tuple, type ValueSet } from './collections.ts';
import { isIterableValue, isSetLike, iterate } from './iterators.ts';
import type { Value } from './kind.ts';
import { compareNumbers, Float } from './numbers.ts';
import { DateTime, TimeSpan } from './time.ts';
import { work } from './work.ts';

/**
 * Python's `==`: by structure for lists (a tuple never equals a mutable list), dicts and sets; numbers and booleans by
 * value; iterators, functions and contexts by identity. Never fails.
 */
export function equals(a: Value, b: Value): boolean {
  visits = 0;
  return equal(a, b);
}

/** Limit of parts in one comparison: values that share parts could be compared forever. */
let visits = 0;
const maxVisits = 3_000_000;

function equal(a: Value, b: Value): boolean {
  work.elements += 1;
  if (++visits > maxVisits) throw new YaqlError('StepQuotaExceededException', 'The comparison takes too many steps');
  if (a === b) return !(a instanceof Float && Number.isNaN(a.value));
  switch (typeof a) {
    case 'string':
      return b instanceof AnyOf && b.has(a);
    case 'number':
    case 'bigint':
    case 'boolean':
      return isNumberLike(b) && compareNumbers(a, b) === 0;
    default:
      if (a === null || b === null) return false;
      return typeof b === 'object'
        ? equalObjects(a, b)
        : a instanceof Float
          ? isNumberLike(b) && compareNumbers(a, b) === 0
          : a instanceof AnyOf && typeof b === 'string' && a.has(b);
  }
}

const isNumberLike = (x: Value): x is number | bigint | boolean | Float =>
  typeof x === 'number' || typeof x === 'bigint' || typeof x === 'boolean' || x instanceof Float;

function equalObjects(a: object, b: object): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b);
  if (a instanceof Tuple) return b instanceof Tuple && equalItems(a.items, b.items);
  if (a instanceof Dict) return b instanceof Dict && equalDicts(a, b);
  if (a instanceof Float) return b instanceof Float && a.value === b.value;
  if (isSetLike(a)) return isSetLike(b) && equalSets(a, b);
  if (a instanceof DateTime)
    return b instanceof DateTime && (a.zone === b.zone ? a.local === b.local : a.utc === b.utc);
  if (a instanceof TimeSpan) return b instanceof TimeSpan && a.microseconds === b.microseconds;
  if (a instanceof Regex) return b instanceof Regex && a.pattern === b.pattern && a.flagText === b.flagText;
  return false;
}

/** Equality inside containers: the very same object is always equal, which matters for nan. */
export const sameOrEqual = (a: Value, b: Value): boolean => a === b || equals(a, b);
const sameOrEqualPart = (a: Value, b: Value): boolean => a === b || equal(a, b);

function equalItems(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!sameOrEqualPart(a[i] as Value, b[i] as Value)) return false;
  return true;
}

function equalDicts(a: Dict, b: Dict): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a.entries()) {
    const other = b.content(key);
    if (other === undefined || !sameOrEqualPart(value, other)) return false;
  }
  return true;
}

export function setHas(set: ValueSet | DictView, value: Value): boolean {
  return set instanceof DictView ? viewHas(set, value) : set.has(value);
}

/** Membership as Python's views have it: keys by hash, items by key and equal value, values by walking. */
function viewHas(view: DictView, value: Value): boolean {
  if (view.part === 'keys') return view.dict.content(value) !== undefined;
  if (view.part === 'items') {
    const pair = view.dict.frozen ? unpacked(value) : value instanceof Tuple ? value.items : [];
    if (pair.length !== 2) return false;
    const found = view.dict.content(pair[0] as Value);
    return found !== undefined && sameOrEqual(found, pair[1] as Value);
  }
  for (const candidate of view.dict.values()) if (sameOrEqual(candidate, value)) return true;
  return false;
}

/** The items of frozen dicts destructure any searched value without a check of its type. */
function unpacked(value: Value): readonly Value[] {
  if (typeof value !== 'string' && !(value instanceof Dict) && !isIterableValue(value))
    throw new YaqlError('TypeError', 'cannot unpack a value that is no pair');
  const items: Value[] = [];
  for (const item of iterate(value)) {
    items.push(item);
    if (items.length > 2) break;
  }
  if (items.length !== 2) throw new YaqlError('ValueError', 'a pair has two values');
  return items;
}

/** Whether every member of `a` is in `b`. */
export function isSubset(a: ValueSet | DictView, b: ValueSet | DictView): boolean {
  if (a.size > b.size) return false;
  for (const value of a) if (!setHas(b, value)) return false;
  return true;
}

const equalSets = (a: ValueSet | DictView, b: ValueSet | DictView): boolean =>
  a.size === b.size && (b instanceof DictView && !(a instanceof DictView) ? isSubset(b, a) : isSubset(a, b));

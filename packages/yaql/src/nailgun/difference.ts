import { Dict, DictView, Tuple, ValueSet } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import { type HashKey, hashKey } from '../values/hash.ts';
import { isIterableValue, isSetLike, iterate, sequenceItems } from '../values/iterators.ts';
import { kindOf, type Value } from '../values/kind.ts';
import { splitLines } from '../values/text.ts';
import { sequenceDifferences } from './sequence-matcher.ts';

/** The parts of only the new value, and of only the old one; null without a difference. */
interface ValueDifference {
  readonly added: Value;
  readonly deleted: Value;
}

/** The difference of two values, one level deep; the rules are in `docs/reference/yaql.md`. */
export function difference(before: Value, after: Value, step: () => void): ValueDifference {
  if (typeName(before) !== typeName(after)) return differenceOfAny(before, after);
  if (typeof before === 'string') return differenceOfLists(splitLines(before), splitLines(after as string), step);
  if (before instanceof Dict) return differenceOfDicts(before, after as Dict);
  if (isSetLike(before)) return differenceOfSets(before, after as ValueSet | DictView);
  if (isIterableValue(before))
    return differenceOfLists(
      sequenceItems(before) ?? [...iterate(before)],
      sequenceItems(after) ?? [...iterate(after)],
      step,
    );
  return differenceOfAny(before, after);
}

/** Values of different Python types are not compared part by part. */
function typeName(value: Value): string {
  if (value instanceof DictView) return `${value.part}/${value.dict.frozen}`;
  return String(kindOf(value));
}

const differenceOfAny = (before: Value, after: Value): ValueDifference =>
  equals(before, after) ? { added: null, deleted: null } : { added: after, deleted: before };

function differenceOfDicts(before: Dict, after: Dict): ValueDifference {
  const added = new Dict(false);
  const deleted = new Dict(false);
  for (const [key, old] of before.entries()) {
    const now = after.content(key);
    if (now !== undefined && equals(old, now)) continue;
    deleted.set(key, old);
    if (now !== undefined) added.set(key, now);
  }
  for (const [key, now] of after.entries()) if (before.content(key) === undefined) added.set(key, now);
  return { added, deleted };
}

function differenceOfSets(before: ValueSet | DictView, after: ValueSet | DictView): ValueDifference {
  // Views become sets first, for which their members must be hashable.
  const [old, now] = [new ValueSet(before), new ValueSet(after)];
  const minus = (x: ValueSet, y: ValueSet): ValueSet => new ValueSet([...x].filter((member) => !y.has(member)));
  return { added: minus(now, old), deleted: minus(old, now) };
}

function differenceOfLists(before: readonly Value[], after: readonly Value[], step: () => void): ValueDifference {
  const a = before.map((item) => comparable(item));
  const b = after.map((item) => comparable(item));
  const added: Value[] = [];
  const deleted: Value[] = [];
  for (const { fromA, toA, fromB, toB } of sequenceDifferences(a, b, step)) {
    deleted.push(...before.slice(fromA, toA));
    added.push(...after.slice(fromB, toB));
  }
  return { added, deleted };
}

/** A key that also compares unhashable values: lists as tuples, dicts as sets of their pairs. */
function comparable(value: Value): HashKey {
  return hashKey(hashable(value));
}

function hashable(value: Value): Value {
  if (Array.isArray(value)) return new Tuple(value.map(hashable));
  if (value instanceof Tuple) return new Tuple(value.items.map(hashable));
  if (value instanceof Dict) {
    if (value.frozen && canHash(value)) return value;
    return new ValueSet([...value.entries()].map(([key, item]) => new Tuple([hashable(key), hashable(item)])));
  }
  if (isSetLike(value)) return new ValueSet([...value].map(hashable));
  return value;
}

function canHash(value: Dict): boolean {
  try {
    hashKey(value);
    return true;
  } catch {
    return false;
  }
}

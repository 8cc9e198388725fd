import { typeError, valueError } from '../errors.ts';
import type { FunctionDefinition } from '../runtime/context.ts';
import { chapterOf, renamed } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import type { Runtime } from '../runtime/limits.ts';
import { nullable, optional, p, rest } from '../runtime/parameters.ts';
import { ValueSet } from '../values/collections.ts';
import { type HashKey, hashKey } from '../values/hash.ts';
import {
  DONE,
  isIterableValue,
  iterate,
  LazyIterator,
  lazily,
  MemorizedIterator,
  pullFrom,
  sequenceItems,
} from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import type { Integer } from '../values/numbers.ts';
import { repr } from '../values/repr.ts';
import { chain } from './lists.ts';
import { isTruthy, memorize, stopIteration, toSize } from './shared.ts';

const fn = chapterOf('queries');
const it = () => p.iterable('collection');

/** A count of elements to draw. Refuses negative counts and counts that do not fit a machine word. */
export function drawCount(count: Integer): number {
  if (count < 0 || count > 9_223_372_036_854_775_807n) throw valueError('the count must be a non-negative integer');
  return Number(count);
}

export function take(items: Value, count: number): LazyIterator {
  const pull = pullFrom(items);
  let left = count;
  return new LazyIterator(() => {
    if (left <= 0) return DONE;
    left--;
    return pull();
  });
}

const where = fn(
  'where',
  'method',
  [it(), p.lambda('predicate')],
  'The elements for which the expression holds.',
  (_, items, predicate) => {
    const pull = pullFrom(items);
    return new LazyIterator(() => {
      for (;;) {
        const item = pull();
        if (item === DONE || isTruthy(predicate.call1(item))) return item;
      }
    });
  },
);

const select = fn(
  'select',
  'method',
  [it(), p.lambda('selector')],
  'The result of the expression for each element.',
  (_, items, selector) => {
    const pull = pullFrom(items);
    return new LazyIterator(() => {
      const item = pull();
      return item === DONE ? DONE : selector.call1(item);
    });
  },
);

const limit = fn(
  'limit',
  'method',
  [it(), p.int('count')],
  'The first elements; ValueError for a negative count.',
  (_, items, count) => take(items, drawCount(count)),
);

function* selectMany(items: Value, selector: Lambda): Generator<Value> {
  for (const item of iterate(items)) {
    const inner = selector.call1(item);
    if (isIterableValue(inner)) yield* iterate(inner);
    else yield inner;
  }
}

function* skipWhile(items: Value, predicate: Lambda): Generator<Value> {
  let skipping = true;
  for (const item of iterate(items)) {
    if (skipping && isTruthy(predicate.call1(item))) continue;
    skipping = false;
    yield item;
  }
}

function* takeWhile(items: Value, predicate: Lambda): Generator<Value> {
  for (const item of iterate(items)) {
    if (!isTruthy(predicate.call1(item))) return;
    yield item;
  }
}

export const filteringFunctions: readonly FunctionDefinition[] = [
  where,
  renamed(where, 'filter'),
  select,
  renamed(select, 'map'),
  fn(
    '#operator_.',
    'function',
    [it(), p.keywordExpression('attribute')],
    '`collection.attribute`: the attribute of each element.',
    (context, items, attribute) => {
      const pull = pullFrom(items);
      return new LazyIterator(() => {
        const item = pull();
        return item === DONE ? DONE : attribute.dot(context, item);
      });
    },
  ),
  limit,
  renamed(limit, 'take'),
  fn(
    'skip',
    'method',
    [it(), p.int('count')],
    'All but the first elements; ValueError for a negative count.',
    (_, items, count) => {
      const pull = pullFrom(items);
      let left = drawCount(count);
      return new LazyIterator(() => {
        for (; left > 0; left--) if (pull() === DONE) return DONE;
        return pull();
      });
    },
  ),
  fn('append', 'both', [it(), rest(p.any('args'))], 'With further elements at the end.', (_, items, more) =>
    chain([items, more]),
  ),
  fn(
    'concat',
    'both',
    [rest(p.iterable('collections'))],
    'The elements of one iterable after another.',
    (_, collections) => chain(collections),
  ),
  fn(
    'selectMany',
    'method',
    [it(), p.lambda('selector')],
    "The elements of the expression's result for each element; a value that is not iterable counts as one.",
    (_, items, selector) => lazily(selectMany(items, selector)),
  ),
  fn(
    'takeWhile',
    'method',
    [it(), p.lambda('predicate')],
    'The elements before the first for which the expression does not hold.',
    (_, items, predicate) => lazily(takeWhile(items, predicate)),
  ),
  fn(
    'skipWhile',
    'method',
    [it(), p.lambda('predicate')],
    'The elements from the first on for which the expression does not hold.',
    (_, items, predicate) => lazily(skipWhile(items, predicate)),
  ),
  fn('memorize', 'method', [it()], 'Iterator that can be walked again and again.', (context, items) =>
    memorize(context, items),
  ),
  fn(
    'first',
    'method',
    [it(), optional(p.any('default'))],
    'The first element, or the default; StopIteration when there is neither.',
    (_, items, fallback) => {
      const item = pullFrom(items)();
      if (item !== DONE) return item;
      if (fallback === undefined) throw stopIteration('The collection is empty');
      return fallback;
    },
  ),
  fn('single', 'method', [it()], 'The only element; StopIteration when there are none or several.', (_, items) => {
    const pull = pullFrom(items);
    const item = pull();
    if (item === DONE) throw stopIteration('The collection is empty');
    if (pull() !== DONE) throw stopIteration('Collection contains more than one item');
    return item;
  }),
  fn(
    'last',
    'method',
    [it(), optional(p.any('default'))],
    'The last element, or the default; StopIteration when there is neither.',
    (_, items, fallback) => {
      let last: Value | undefined = fallback;
      const list = sequenceItems(items);
      if (list !== null) last = list.length === 0 ? fallback : list[list.length - 1];
      else for (const item of iterate(items)) last = item;
      if (last === undefined) throw stopIteration('The collection is empty');
      return last;
    },
  ),
  fn(
    'repeat',
    'method',
    [p.any('value'), optional(p.int('times'), -1)],
    'The receiver that many times, without end when negative.',
    (_, value, times) => {
      const forever = (times as Integer) < 0;
      let left = forever ? 0 : toSize(times as Integer);
      const repeated = new LazyIterator(() => (forever || left-- > 0 ? value : DONE));
      repeated.shown = () => (forever ? `repeat(${repr(value)})` : `repeat(${repr(value)}, ${Math.max(left, 0)})`);
      return repeated;
    },
  ),
  fn('cycle', 'method', [it()], 'The elements over and over again.', (_, items) => {
    const pull = pullFrom(items);
    const seen: Value[] = [];
    let index = -1;
    return new LazyIterator(() => {
      if (index < 0) {
        const item = pull();
        if (item !== DONE) {
          seen.push(item);
          return item;
        }
        index = 0;
      }
      return seen.length === 0 ? DONE : (seen[index++ % seen.length] as Value);
    });
  }),
  fn('reverse', 'method', [it()], 'The elements from the last to the first.', (_, items) => {
    const list = sequenceItems(items) ?? [...iterate(items)];
    let index = list.length;
    return new LazyIterator(() => (index > 0 ? (list[--index] as Value) : DONE));
  }),
  fn(
    'isIterable',
    'function',
    [p.any('value')],
    'Whether the value has elements to walk; texts and dicts do not.',
    (_, value) => isIterableValue(value),
  ),
  fn(
    'defaultIfEmpty',
    'method',
    [it(), p.iterable('default')],
    'The collection, or the default when it is empty.',
    (context, items, fallback) => {
      const list = sequenceItems(items);
      if (list !== null) return list.length === 0 ? fallback : items;
      if (items instanceof ValueSet) return items.size === 0 ? fallback : items;
      const again = memorize(context, items);
      const pull = again instanceof MemorizedIterator ? again.restart().next : pullFrom(again);
      return pull() === DONE ? fallback : again;
    },
  ),
  fn(
    'distinct',
    'both',
    [it(), optional(p.lambda('keySelector'))],
    'The first of equal elements, or of those with equal keys.',
    (context, items, key) => lazily(distinct(context.runtime, items, key)),
  ),
  fn(
    'enumerate',
    'both',
    [it(), optional(nullable(p.int('start')), 0)],
    'Pairs of index and element.',
    (_, items, start) => {
      const pull = pullFrom(items);
      let index = BigInt((start ?? 0) as Integer);
      return new LazyIterator(() => {
        if (start === null) throw typeError('the start of enumerate() must be an integer');
        const item = pull();
        if (item === DONE) return DONE;
        const at = index++;
        return [at <= 9007199254740991n && at >= -9007199254740991n ? Number(at) : at, item];
      });
    },
  ),
];

/** Also what the default list merger of `mergeWith` uses. */
export function* distinct(runtime: Runtime, items: Value, key: Lambda | undefined): Generator<Value> {
  const seen = new Set<HashKey>();
  for (const item of iterate(items)) {
    const hash = hashKey(key === undefined ? item : key.call1(item));
    if (seen.has(hash)) continue;
    seen.add(hash);
    runtime.checkSetMemory(seen.size);
    yield item;
  }
}

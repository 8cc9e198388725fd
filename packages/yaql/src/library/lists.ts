import { YaqlError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import { optional, p, rest } from '../runtime/parameters.ts';
import { callMethod } from '../runtime/value-call.ts';
import { Tuple, ValueSet } from '../values/collections.ts';
import { sameOrEqual, setHas } from '../values/equality.ts';
import {
  DONE,
  isIterableValue,
  isSetLike,
  iterate,
  LazyIterator,
  lazily,
  type Pull,
  pullFrom,
  sequenceItems,
} from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import type { Integer } from '../values/numbers.ts';
import { toIndex, toSize } from './shared.ts';

const fn = chapterOf('collections');

/** The items, with those of iterators among them in their place, recursively. */
export function* spliced(items: Iterable<Value>): Generator<Value> {
  for (const item of items) {
    if (item instanceof LazyIterator) yield* spliced(item);
    else yield item;
  }
}

function* flatten(items: Value): Generator<Value> {
  for (const item of iterate(items)) {
    if (isIterableValue(item)) yield* flatten(item);
    else yield item;
  }
}

function contains(items: Value, value: Value): boolean {
  if (isSetLike(items)) return setHas(items, value);
  for (const item of iterate(items)) if (sameOrEqual(item, value)) return true;
  return false;
}

/** One iterable after another. */
export function chain(collections: readonly Value[]): LazyIterator {
  let index = 0;
  let pull: Pull = collections.length === 0 ? () => DONE : pullFrom(collections[0] as Value);
  return new LazyIterator(() => {
    for (;;) {
      const item = pull();
      if (item !== DONE) return item;
      if (index + 1 >= collections.length) return DONE;
      pull = pullFrom(collections[++index] as Value);
    }
  });
}

function repeatList(context: Context, list: Value, count: Integer): Value {
  const items = sequenceItems(list) as readonly Value[];
  context.runtime.checkMemoryOf([1 - Number(count), []], [count, list]);
  const times = Math.max(0, toSize(count));
  if (items.length === 0) return Array.isArray(list) ? [] : list;
  context.runtime.checkLength(times * items.length);
  const out: Value[] = [];
  for (let i = 0; i < times; i++) for (const item of items) out.push(item);
  return Array.isArray(list) ? out : new Tuple(out);
}

const between = (i: number, position: number, count: number): boolean =>
  count >= 0 ? position <= i && i < position + count : i >= position;

function* deleteAt(items: Value, position: number, count: number): Generator<Value> {
  let i = 0;
  for (const item of iterate(items)) if (!between(i++, position, count)) yield item;
}

function* replaceAt(items: Value, position: number, count: number, values: () => Iterable<Value>): Generator<Value> {
  let i = 0;
  let replaced = false;
  for (const item of iterate(items)) {
    if (!between(i++, position, count)) yield item;
    else if (!replaced) {
      replaced = true;
      yield* values();
    }
  }
}

function* insertAt(
  items: Value,
  position: number,
  values: () => Iterable<Value>,
  negativeInFront: boolean,
): Generator<Value> {
  if (negativeInFront && position < 0) yield* values();
  let i = -1;
  for (const item of iterate(items)) {
    if (++i === position) yield* values();
    yield item;
  }
  if (position > i) yield* values();
}

const position = () => p.int('position');
const count = () => optional(p.int('count'), 1);

export const listFunctions: readonly FunctionDefinition[] = [
  fn(
    'list',
    'function',
    [rest(p.any('args'))],
    'List of the arguments; the elements of iterators among them take their place.',
    (context, args) => callMethod(context, 'toList', [lazily(spliced(args))]),
  ),
  fn(
    '#list',
    'function',
    [rest(p.any('args'))],
    '`[a, b]`: list of exactly these values.',
    (_, args) => new Tuple(args),
  ),
  fn('toList', 'method', [p.iterable('collection')], 'List of the elements.', (_, items) =>
    items instanceof Tuple ? items : new Tuple([...iterate(items)]),
  ),
  fn(
    'flatten',
    'method',
    [p.iterable('collection')],
    'The elements of all lists inside one another; dicts and texts are elements.',
    (_, items) => lazily(flatten(items)),
  ),
  fn(
    '#indexer',
    'function',
    [p.sequence('list'), p.int('index')],
    'Element of a list; negative indexes count from the end; IndexError.',
    (_, list, index) => {
      const items = sequenceItems(list) as readonly Value[];
      const i = toIndex(index);
      const item = items[i < 0 ? i + items.length : i];
      if (item === undefined) throw new YaqlError('IndexError', 'list index out of range');
      return item;
    },
  ),
  fn(
    '#operator_in',
    'function',
    [p.any('value'), p.iterable('collection')],
    'Whether the value is an element.',
    (_, value, items) => contains(items, value),
  ),
  fn(
    'contains',
    'method',
    [p.iterable('collection'), p.any('value')],
    'Whether the value is an element.',
    (_, items, value) => contains(items, value),
  ),
  fn(
    '#operator_+',
    'function',
    [p.iterable('left'), p.iterable('right')],
    'Elements of both: a list of two lists, a set of two sets, otherwise an iterator.',
    (context, left, right) => {
      if (left instanceof Tuple && right instanceof Tuple) {
        context.runtime.checkMemoryOf([1, left], [1, right]);
        context.runtime.checkLength(left.items.length + right.items.length);
        return new Tuple([...left.items, ...right.items]);
      }
      if (left instanceof ValueSet && right instanceof ValueSet && left.frozen && right.frozen) {
        context.runtime.checkMemoryOf([1, left], [1, right]);
        return new ValueSet([...left, ...right]);
      }
      return chain([left, right]);
    },
  ),
  fn('#operator_*', 'function', [p.sequence('left'), p.int('right')], 'The list that many times.', repeatList),
  fn(
    '#operator_*',
    'function',
    [p.int('left'), p.sequence('right')],
    'The list that many times.',
    (context, times, list) => repeatList(context, list, times),
  ),
  fn(
    'isList',
    'function',
    [p.any('arg')],
    'Whether the value is a list; iterators are not.',
    (_, value) => sequenceItems(value) !== null,
  ),
  fn(
    'len',
    'both',
    [p.sequence('sequence')],
    'Number of elements.',
    (_, list) => (sequenceItems(list) as readonly Value[]).length,
  ),
  fn(
    'delete',
    'method',
    [p.iterable('collection'), position(), count()],
    'Without `count` elements from the position on; a negative count means all.',
    (_, items, at, n) => lazily(deleteAt(items, toIndex(at), toIndex(n as Integer))),
  ),
  fn(
    'replace',
    'method',
    [p.iterable('collection'), position(), p.any('value'), count()],
    'With one value in the place of `count` elements.',
    (_, items, at, value, n) => lazily(replaceAt(items, toIndex(at), toIndex(n as Integer), () => [value])),
  ),
  fn(
    'replaceMany',
    'method',
    [p.iterable('collection'), position(), p.iterable('values'), count()],
    'With several values in the place of `count` elements.',
    (_, items, at, values, n) => lazily(replaceAt(items, toIndex(at), toIndex(n as Integer), () => iterate(values))),
  ),
  fn(
    'insert',
    'method',
    [p.iterableNotSet('collection'), position(), p.any('value')],
    'With a value before that position; past the end it is appended.',
    (_, items, at, value) => lazily(insertAt(items, toIndex(at), () => [value], false)),
  ),
  fn(
    'insert',
    'method',
    [p.sequence('collection'), position(), p.any('value')],
    'List with a value before that position; negative positions count from the end.',
    (_, list, at, value) => {
      const items = [...(sequenceItems(list) as readonly Value[])];
      items.splice(toSize(at), 0, value);
      return items;
    },
  ),
  fn(
    'insertMany',
    'method',
    [p.iterable('collection'), position(), p.iterable('values')],
    'With several values before that position.',
    (_, items, at, values) => lazily(insertAt(items, toIndex(at), () => iterate(values), true)),
  ),
];

import { typeError, valueError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { keywords, optional, p, rest } from '../runtime/parameters.ts';
import { callMethod } from '../runtime/value-call.ts';
import { Dict, Tuple } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import { type HashKey, hashKey } from '../values/hash.ts';
import { DONE, iterate, LazyIterator, lazily, OrderedIterable, pullFrom, sequenceItems } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { add, type Integer, type Numeric } from '../values/numbers.ts';
import { repr } from '../values/repr.ts';
import { distinct, drawCount, take } from './filtering.ts';
import { isTruthy, memorize, toIndex } from './shared.ts';
import { orderIn } from './strings.ts';

const fn = chapterOf('queries');
const it = () => p.iterable('collection');

/** A key of an item being sorted, found once however often it is compared. */
interface Sortable {
  readonly item: Value;
  readonly keys: Value[];
}

interface SortField {
  readonly selector: Lambda;
  readonly descending: boolean;
  readonly compare: (a: Value, b: Value) => number;
}

/** Orders of a chain of `orderBy` and `thenBy`. */
class Ordering extends OrderedIterable {
  readonly #fields: SortField[] = [];

  addField(context: Context, selector: Lambda, descending: boolean): this {
    this.#fields.push({ selector, descending, compare: orderIn(context) });
    return this;
  }

  protected override sort(items: readonly Value[]): Value[] {
    const sortable: Sortable[] = items.map((item) => ({ item, keys: [] }));
    sortable.sort((a, b) => this.#compare(a, b));
    return sortable.map((s) => s.item);
  }

  #compare(a: Sortable, b: Sortable): number {
    for (let i = 0; i < this.#fields.length; i++) {
      const { selector, descending, compare } = this.#fields[i] as SortField;
      if (a.keys.length <= i) a.keys.push(selector.call1(a.item));
      if (b.keys.length <= i) b.keys.push(selector.call1(b.item));
      const order = compare(a.keys[i] as Value, b.keys[i] as Value);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  }
}

const order = (name: string, descending: boolean): FunctionDefinition =>
  fn(
    name,
    'method',
    [it(), p.lambda('selector')],
    `The elements in ${descending ? 'descending' : 'ascending'} order of a key; stable, null first; replayable.`,
    (context, items, selector) => new Ordering(iterate(items)).addField(context, selector, descending),
  );

const then = (name: string, descending: boolean): FunctionDefinition =>
  fn(
    name,
    'method',
    [p.ordered('collection'), p.lambda('selector')],
    'Adds a key that decides between elements equal so far.',
    (context, ordering, selector) => (ordering as Ordering).addField(context, selector, descending),
  );

function range(start: Integer, stop: Integer, step: Integer): LazyIterator {
  if (step === 0) throw valueError('range() arg 3 must not be zero');
  const up = step > 0;
  let next: Integer = start;
  return new LazyIterator(() => {
    if (up ? next >= stop : next <= stop) return DONE;
    const value = next;
    next = add(next, step) as Integer;
    return value;
  });
}

function zip(collections: readonly Value[]): LazyIterator {
  const pulls = collections.map(pullFrom);
  let done = pulls.length === 0;
  return new LazyIterator(() => {
    if (done) return DONE;
    const items: Value[] = [];
    for (const pull of pulls) {
      const item = pull();
      if (item === DONE) {
        done = true;
        return DONE;
      }
      items.push(item);
    }
    return new Tuple(items);
  });
}

function zipLongest(collections: readonly Value[], filler: Value): LazyIterator {
  const pulls = collections.map(pullFrom);
  const open = pulls.map(() => true);
  return new LazyIterator(() => {
    const items = pulls.map((pull, i) => {
      const item = open[i] === true ? pull() : DONE;
      if (item === DONE) {
        open[i] = false;
        return filler;
      }
      return item;
    });
    return open.some((o) => o) ? new Tuple(items) : DONE;
  });
}

function* join(left: Value, right: Value, predicate: Lambda, selector: Lambda): Generator<Value> {
  for (const a of iterate(left))
    for (const b of iterate(right)) if (isTruthy(predicate.call2(a, b))) yield selector.call2(a, b);
}

/** A list as the `toList` of the context makes it: that of the 0.2 language makes mutable ones. */
const listIn = (context: Context, items: Value): Value => callMethod(context, 'toList', [items]);

const itemsOf = (list: Value): readonly Value[] => sequenceItems(list) as readonly Value[];

/** Part of a list, mutable where the list is. */
const partOf = (list: Value, start: number, end?: number): Value =>
  Array.isArray(list) ? list.slice(start, end) : new Tuple(itemsOf(list).slice(start, end));

function* slices(context: Context, items: Value, length: Integer): Generator<Value> {
  const source = new LazyIterator(pullFrom(items));
  for (;;) {
    const part = listIn(context, take(source, drawCount(length)));
    if (itemsOf(part).length === 0) return;
    yield part;
  }
}

function* splitWhere(context: Context, items: Value, predicate: Lambda): Generator<Value> {
  const all = listIn(context, items);
  const list = itemsOf(all);
  let start = 0;
  for (let i = 0; i < list.length; i++) {
    if (!isTruthy(predicate.call1(list[i] as Value))) continue;
    yield partOf(all, start, i);
    start = i + 1;
  }
  if (start !== list.length) yield partOf(all, start);
}

function* sliceWhere(context: Context, items: Value, predicate: Lambda): Generator<Value> {
  const all = listIn(context, items);
  const list = itemsOf(all);
  let start = 0;
  let last: Value | undefined;
  for (let i = 0; i < list.length; i++) {
    const value = predicate.call1(list[i] as Value);
    if (last !== undefined && !equals(value, last)) {
      yield partOf(all, start, i);
      start = i;
    }
    last = value;
  }
  if (start !== list.length) yield partOf(all, start);
}

type ListMerger = (a: Value, b: Value) => Value;

function mergeDicts(left: Dict, right: Dict, mergeLists: ListMerger, mergeItems: ListMerger, levels: number): Dict {
  const out = new Dict(false);
  for (const [key, a] of left.entries()) {
    const b = right.content(key);
    if (b === undefined) out.set(key, a);
    else if (levels !== 1 && b instanceof Dict) {
      if (!(a instanceof Dict)) throw typeError('Cannot merge a dict into something else');
      out.set(key, mergeDicts(a, b, mergeLists, mergeItems, levels === 0 ? 0 : levels - 1));
    } else if (levels !== 1 && sequenceItems(b) !== null) {
      if (sequenceItems(a) === null) throw typeError('Cannot merge a list into something else');
      out.set(key, mergeLists(a, b));
    } else out.set(key, mergeItems(a, b));
  }
  for (const [key, b] of right.entries()) if (!out.has(key)) out.set(key, b);
  return out;
}

function* generate(
  context: Context,
  initial: Value,
  predicate: Lambda,
  producer: Lambda,
  selector: Lambda | undefined,
  decycle: boolean,
): Generator<Value> {
  const past = new PastItems(context);
  for (let item = initial; isTruthy(predicate.call1(item)); item = producer.call1(item)) {
    if (decycle && !past.add(item)) break;
    yield selector === undefined ? item : selector.call1(item);
  }
}

function* generateMany(
  context: Context,
  initial: Value,
  producer: Lambda,
  selector: Lambda | undefined,
  decycle: boolean,
  depthFirst: boolean,
): Generator<Value> {
  const past = new PastItems(context);
  // Depth first is a stack of pending values; breadth first a queue with a moving head.
  let queue: Value[] = [initial];
  let head = 0;
  while (head < queue.length) {
    const item = (depthFirst ? queue.pop() : queue[head++]) as Value;
    if (decycle && !past.add(item)) continue;
    yield selector === undefined ? item : selector.call1(item);
    const produced = [...iterate(producer.call1(item))];
    if (depthFirst) produced.reverse();
    for (const next of produced) queue.push(next);
    if (head > 1000 && head * 2 > queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    context.runtime.checkMemory(queue);
  }
}

/** Items seen before, for generators that must not go in circles. */
class PastItems {
  readonly #seen = new Set<HashKey>();
  readonly #context: Context;
  constructor(context: Context) {
    this.#context = context;
  }
  /** False when it was there already. */
  add(item: Value): boolean {
    const hash = hashKey(item);
    if (this.#seen.has(hash)) return false;
    this.#seen.add(hash);
    this.#context.runtime.checkSetMemory(this.#seen.size);
    return true;
  }
}

export const arrangingFunctions: readonly FunctionDefinition[] = [
  fn('range', 'function', [p.int('stop')], 'Integers from 0 up to the bound, which is left out.', (_, stop) =>
    range(0, stop, 1),
  ),
  fn(
    'range',
    'function',
    [p.int('start'), p.int('stop'), optional(p.int('step'), 1)],
    'Integers from the start up (or down) to the bound, which is left out; ValueError for step 0.',
    (_, start, stop, step) => range(start, stop, step as Integer),
  ),
  fn(
    'sequence',
    'function',
    [optional(p.int('start'), 0), optional(p.int('step'), 1)],
    'Integers without end.',
    (_, start, step) => {
      let next = start as Numeric;
      const endless = new LazyIterator(() => {
        const value = next;
        next = add(next, step as Numeric);
        return value;
      });
      endless.shown = () => (step === 1 ? `count(${repr(next)})` : `count(${repr(next)}, ${repr(step)})`);
      return endless;
    },
  ),
  order('orderBy', false),
  order('orderByDescending', true),
  then('thenBy', false),
  then('thenByDescending', true),
  fn(
    'join',
    'method',
    [p.iterable('collection1'), p.iterable('collection2'), p.lambda('predicate'), p.lambda('selector')],
    'The result of the selector for each pair `$1`, `$2` for which the predicate holds.',
    (context, left, right, predicate, selector) => lazily(join(left, memorize(context, right), predicate, selector)),
  ),
  fn(
    'zip',
    'method',
    [rest(p.iterable('collections'))],
    'Lists of the n-th elements of all, as many as the shortest has.',
    (_, collections) => zip(collections),
  ),
  fn(
    'zipLongest',
    'method',
    [rest(p.iterable('collections')), keywords(p.any('kwargs'))],
    'Lists of the n-th elements of all, filled up with `default`.',
    (_, collections, named) => zipLongest(collections, named.get('default') ?? null),
  ),
  fn('slice', 'method', [it(), p.int('length')], 'Lists of that many elements.', (context, items, length) =>
    lazily(slices(context, items, length)),
  ),
  fn(
    'splitWhere',
    'method',
    [it(), p.lambda('predicate')],
    'Lists of the elements between those for which the expression holds.',
    (context, items, predicate) => lazily(splitWhere(context, items, predicate)),
  ),
  fn(
    'sliceWhere',
    'method',
    [it(), p.lambda('predicate')],
    'Lists of neighbours for which the expression gives the same.',
    (context, items, predicate) => lazily(sliceWhere(context, items, predicate)),
  ),
  fn(
    'splitAt',
    'method',
    [it(), p.int('index')],
    'Two lists: the elements before the index, and the others.',
    (context, items, index) => {
      const list = listIn(context, items);
      return [partOf(list, 0, toIndex(index)), partOf(list, toIndex(index))];
    },
  ),
  fn(
    'mergeWith',
    'method',
    [
      p.mapping('dict'),
      p.mapping('another'),
      optional(p.lambda('listMerger')),
      optional(p.lambda('itemMerger')),
      optional(p.int('maxLevels'), 0),
    ],
    'Deep union of two dicts; by default lists are joined without repetitions and of other values the second is taken.',
    (context, left, right, listMerger, itemMerger, levels) => {
      const lists: ListMerger =
        listMerger === undefined
          ? (a, b) => {
              if (Array.isArray(a) !== Array.isArray(b)) throw typeError('Cannot join a list and a mutable list');
              const all = [...(sequenceItems(a) as readonly Value[]), ...(sequenceItems(b) as readonly Value[])];
              return listIn(context, lazily(distinct(context.runtime, all, undefined)));
            }
          : (a, b) => listMerger.call2(a, b);
      const items: ListMerger = itemMerger === undefined ? (_, b) => b : (a, b) => itemMerger.call2(a, b);
      return mergeDicts(left, right, lists, items, toIndex(levels as Integer));
    },
  ),
  fn(
    'generate',
    'function',
    [
      p.any('initial'),
      p.lambda('predicate'),
      p.lambda('producer'),
      optional(p.lambda('selector')),
      optional(p.boolean('decycle'), false),
    ],
    "The initial value, the producer's result for it, and so on while the predicate holds.",
    (context, initial, predicate, producer, selector, decycle) =>
      lazily(generate(context, initial, predicate, producer, selector, decycle as boolean)),
  ),
  fn(
    'generateMany',
    'function',
    [
      p.any('initial'),
      p.lambda('producer'),
      optional(p.lambda('selector')),
      optional(p.boolean('decycle'), false),
      optional(p.boolean('depthFirst'), false),
    ],
    'The initial value, all that the producer makes of it, and so on: breadth first by default.',
    (context, initial, producer, selector, decycle, depthFirst) =>
      lazily(generateMany(context, initial, producer, selector, decycle as boolean, depthFirst as boolean)),
  ),
];

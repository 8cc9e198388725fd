import { typeError, YaqlError } from '../errors.ts';
import type { FunctionDefinition } from '../runtime/context.ts';
import { chapterOf, renamed } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { optional, p } from '../runtime/parameters.ts';
import { binaryFunction } from '../runtime/value-call.ts';
import { Dict, Tuple } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import { DONE, iterate, LazyIterator, lazily, pullFrom, sequenceItems } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { isTruthy } from './shared.ts';

const fn = chapterOf('queries');
const it = () => p.iterable('collection');

/** Folds from the left; without a start value the first element is it, and TypeError for none. */
function fold(items: Value, combine: (a: Value, b: Value) => Value, seed: Value | undefined): Value {
  const pull = pullFrom(items);
  let result: Value;
  if (seed === undefined) {
    const first = pull();
    if (first === DONE) throw typeError('reduce() of empty iterable with no initial value');
    result = first;
  } else result = seed;
  for (let item = pull(); item !== DONE; item = pull()) result = combine(result, item);
  return result;
}

const folding = (name: string, through: string, documentation: string): FunctionDefinition =>
  fn(name, 'method', [it(), optional(p.any('initial'))], documentation, (context, items, initial) =>
    fold(items, binaryFunction(context, through), initial),
  );

const aggregate = fn(
  'aggregate',
  'method',
  [it(), p.lambda('selector'), optional(p.any('seed'))],
  'Folds the elements: `$1` is the result so far, `$2` the element.',
  (_, items, combine, seed) => fold(items, (a, b) => combine.call2(a, b), seed),
);

function* accumulate(items: Value, combine: Lambda, seed: Value | undefined): Generator<Value> {
  const pull = pullFrom(items);
  let total = seed;
  if (total === undefined) {
    const first = pull();
    if (first === DONE) throw typeError('accumulate() of empty sequence with no initial value');
    total = first;
  }
  yield total;
  for (let item = pull(); item !== DONE; item = pull()) yield (total = combine.call2(total, item));
}

const countOf = (items: Value): number => {
  const pull = pullFrom(items);
  let n = 0;
  while (pull() !== DONE) n++;
  return n;
};

function indexWhere(items: Value, holds: (item: Value) => boolean, last: boolean): number {
  let index = -1;
  let found = -1;
  for (const item of iterate(items)) {
    index++;
    if (!holds(item)) continue;
    found = index;
    if (!last) break;
  }
  return found;
}

/** With the fallback for aggregators of the old form, which took the pair of key and values instead of the values. */
export const groupByFunction = (allowFallback: boolean): FunctionDefinition =>
  fn(
    'groupBy',
    'method',
    [it(), p.lambda('keySelector'), optional(p.lambda('valueSelector')), optional(p.lambda('aggregator'))],
    'Pairs of a key and the list of elements (or values) with that key; the aggregator makes something else of the list.',
    (context, items, key, value, aggregator) => {
      const groups = new Dict(false);
      const { runtime } = context;
      for (const item of iterate(items)) {
        const entry = value === undefined ? item : value.call1(item);
        const k = key.call1(item);
        const group = groups.get(k) as Value[] | undefined;
        if (group === undefined) groups.set(k, [entry]);
        else group.push(entry);
        if (runtime.quota > 0) runtime.checkMemory(groups);
      }
      const entries = groups.entries();
      const aggregated = aggregator === undefined ? null : new GroupAggregator(aggregator, allowFallback);
      return new LazyIterator(() => {
        const next = entries.next();
        if (next.done === true) return DONE;
        const pair = new Tuple(next.value);
        return aggregated === null ? pair : aggregated.apply(pair);
      });
    },
  );

class GroupAggregator {
  readonly #aggregator: Lambda;
  #allowFallback: boolean;
  #failure: YaqlError | null = null;

  constructor(aggregator: Lambda, allowFallback: boolean) {
    this.#aggregator = aggregator;
    this.#allowFallback = allowFallback;
  }

  apply(pair: Tuple): Value {
    const [key, values] = pair.items as [Value, Value[]];
    if (this.#failure === null) {
      try {
        const result = this.#aggregator.call1(values);
        // A result that an aggregator of the old form cannot have given rules that form out.
        const items = sequenceItems(result);
        if (
          !(
            values.length === 2 &&
            items !== null &&
            items.length === 2 &&
            equals(items[0] as Value, values[0] as Value)
          )
        )
          this.#allowFallback = false;
        return new Tuple([key, result]);
      } catch (error) {
        if (!(error instanceof YaqlError) || !mayFallBack.has(error.errorClass)) throw error;
        this.#failure = error;
      }
    }
    if (this.#allowFallback) {
      try {
        const result = this.#aggregator.call1(pair);
        const size =
          sequenceItems(result)?.length ??
          (result instanceof Dict ? result.size : typeof result === 'string' ? result.length : -1);
        if (size === 2) return result;
      } catch (error) {
        if (!(error instanceof YaqlError)) throw error;
      }
    }
    throw this.#failure;
  }
}

const mayFallBack = new Set(['NoMatchingMethodException', 'NoMatchingFunctionException', 'IndexError']);

export const aggregationFunctions: readonly FunctionDefinition[] = [
  fn(
    'any',
    'both',
    [it(), optional(p.lambda('predicate'))],
    'Whether the expression holds for some element; without one, whether there is an element.',
    (_, items, predicate) => {
      for (const item of iterate(items)) if (predicate === undefined || isTruthy(predicate.call1(item))) return true;
      return false;
    },
  ),
  fn(
    'all',
    'both',
    [it(), optional(p.lambda('predicate'))],
    'Whether the expression holds for every element; without one, whether all count as true.',
    (_, items, predicate) => {
      for (const item of iterate(items))
        if (!isTruthy(predicate === undefined ? item : predicate.call1(item))) return false;
      return true;
    },
  ),
  fn(
    'len',
    'both',
    [p.iterator('collection')],
    'Number of elements of an iterator, which uses it up.',
    (context, items) => {
      const pull = pullFrom(items);
      let n = 0;
      for (; pull() !== DONE; n++) context.runtime.step();
      return n;
    },
  ),
  fn('count', 'method', [it()], 'Number of elements of any iterable.', (_, items) => countOf(items)),
  folding('sum', '#operator_+', 'Sum of the elements; TypeError for none without an initial value.'),
  folding('max', 'max', 'Greatest element; TypeError for none without an initial value.'),
  folding('min', 'min', 'Least element; TypeError for none without an initial value.'),
  aggregate,
  renamed(aggregate, 'reduce'),
  fn(
    'accumulate',
    'method',
    [it(), p.lambda('selector'), optional(p.any('seed'))],
    'All intermediate results of `aggregate`, the start included.',
    (_, items, combine, seed) => lazily(accumulate(items, combine, seed)),
  ),
  fn(
    'indexOf',
    'method',
    [it(), p.any('item')],
    'Index of the first equal element, -1 when there is none.',
    (_, items, wanted) => indexWhere(items, (item) => equals(item, wanted), false),
  ),
  fn(
    'lastIndexOf',
    'method',
    [it(), p.any('item')],
    'Index of the last equal element, -1 when there is none.',
    (_, items, wanted) => indexWhere(items, (item) => equals(item, wanted), true),
  ),
  fn(
    'indexWhere',
    'method',
    [it(), p.lambda('predicate')],
    'Index of the first element for which the expression holds, -1 when there is none.',
    (_, items, predicate) => indexWhere(items, (item) => isTruthy(predicate.call1(item)), false),
  ),
  fn(
    'lastIndexWhere',
    'method',
    [it(), p.lambda('predicate')],
    'Index of the last element for which the expression holds, -1 when there is none.',
    (_, items, predicate) => indexWhere(items, (item) => isTruthy(predicate.call1(item)), true),
  ),
];

import { typeError, YaqlError } from '../errors.ts';
import { Dict, DictView, Tuple, ValueSet } from './collections.ts';
import { Kind, kindOf, type Value, ValueObject } from './kind.ts';

/** The result of a {@link Pull} at the end, and of every later call. */
export const DONE: unique symbol = Symbol('done');
export type Pull = () => Value | typeof DONE;

/** A one-shot iterator: the result of `where`, `select`, `range` … */
export class LazyIterator extends ValueObject implements Iterable<Value> {
  readonly next: Pull;
  /** Text of the endless iterators that Python can show. */
  shown: (() => string) | null = null;

  constructor(next: Pull) {
    super();
    this.next = next;
  }

  override get kind(): Kind {
    return Kind.Iterator;
  }

  [Symbol.iterator](): Iterator<Value> {
    const pull = this.next;
    return {
      next(): IteratorResult<Value> {
        const value = pull();
        return value === DONE ? { done: true, value: undefined } : { done: false, value };
      },
    };
  }
}

/** Replayable: each walk starts at the beginning and draws from the source only new elements. */
export class MemorizedIterator extends LazyIterator {
  readonly #drawn: Value[];
  readonly #source: Pull;
  readonly #onGrow: (drawn: readonly Value[]) => void;

  constructor(source: Pull, onGrow: (drawn: readonly Value[]) => void, drawn: Value[] = []) {
    let index = 0;
    super(() => {
      if (index < drawn.length) return drawn[index++] as Value;
      const value = source();
      if (value !== DONE) {
        drawn.push(value);
        onGrow(drawn);
        index++;
      }
      return value;
    });
    this.#drawn = drawn;
    this.#source = source;
    this.#onGrow = onGrow;
  }

  restart(): MemorizedIterator {
    return new MemorizedIterator(this.#source, this.#onGrow, this.#drawn);
  }

  override [Symbol.iterator](): Iterator<Value> {
    return LazyIterator.prototype[Symbol.iterator].call(this.restart());
  }
}

/** The result of `orderBy`: sorted when first walked, replayable, extended by `thenBy`. */
export abstract class OrderedIterable extends ValueObject implements Iterable<Value> {
  readonly #source: Iterable<Value>;
  #sorted: Value[] | null = null;

  constructor(source: Iterable<Value>) {
    super();
    this.#source = source;
  }

  override get kind(): Kind {
    return Kind.Ordered;
  }

  protected abstract sort(items: readonly Value[]): Value[];

  [Symbol.iterator](): Iterator<Value> {
    this.#sorted ??= this.sort([...this.#source]);
    return this.#sorted[Symbol.iterator]();
  }
}

/** Wraps a generator (or any other JavaScript iterator) as a value. */
export function lazily(generator: Iterator<Value>): LazyIterator {
  let finished = false;
  return new LazyIterator(() => {
    if (finished) return DONE;
    const step = generator.next();
    if (step.done === true) {
      finished = true;
      return DONE;
    }
    return step.value;
  });
}

/** Walks a value that can be iterated: sequences, sets, views, iterators, dicts (their keys). TypeError for others. */
export function iterate(value: Value): Iterable<Value> {
  if (Array.isArray(value)) return value;
  if (value instanceof Tuple) return value.items;
  if (value instanceof LazyIterator || value instanceof ValueSet || value instanceof DictView) return value;
  if (value instanceof OrderedIterable) return value;
  if (value instanceof Dict) return value.keys();
  if (typeof value === 'string') return value;
  // A context has keys, so Python reads its item 0 and fails on a name that is not a text.
  if (kindOf(value) === Kind.Context) throw new YaqlError('AttributeError', 'a context has no items');
  throw typeError('object is not iterable');
}

/** The same walk as a function that gives an item a call. */
export function pullFrom(value: Value): Pull {
  if (value instanceof MemorizedIterator) return value.restart().next;
  if (value instanceof LazyIterator) return value.next;
  if (Array.isArray(value) || value instanceof Tuple) {
    const items: readonly Value[] = Array.isArray(value) ? value : value.items;
    let index = 0;
    return () => (index < items.length ? (items[index++] as Value) : DONE);
  }
  // Nothing happens before the first item is asked for: an ordered iterable sorts only then.
  return lazily(walk(value)).next;
}

function* walk(value: Value): Generator<Value> {
  yield* iterate(value);
}

/** The items of a sequence; null for anything that is not one. */
export function sequenceItems(value: Value): readonly Value[] | null {
  if (Array.isArray(value)) return value;
  return value instanceof Tuple ? value.items : null;
}

/** Whether Python's `Iterable` holds and it is neither string nor dict. */
export function isIterableValue(value: Value): boolean {
  return (
    Array.isArray(value) ||
    value instanceof Tuple ||
    value instanceof LazyIterator ||
    value instanceof ValueSet ||
    value instanceof DictView ||
    value instanceof OrderedIterable
  );
}

export const isSetLike = (value: Value): value is ValueSet | DictView =>
  value instanceof ValueSet || (value instanceof DictView && value.part !== 'values');

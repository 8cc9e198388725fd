import { YaqlError } from '../errors.ts';
import { type HashKey, hashKey } from './hash.ts';
import { Kind, type Value, ValueObject } from './kind.ts';
import { setOrder } from './set-order.ts';
import { work } from './work.ts';

/** Immutable sequence. (A mutable one is a plain JavaScript array.) */
export class Tuple extends ValueObject {
  readonly items: readonly Value[];
  #hash: string | null = null;
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
  override get kind(): Kind {
    return Kind.Tuple;
  }
  override hashKey(): HashKey {
    this.#hash ??= composite('(', this.items.map(hashPart), ')');
    return this.#hash;
  }
}

/** Longest text a hash key may grow to: values that share parts can be far larger than the memory they take. */
const maxKeyLength = 4_000_000;

function composite(open: string, parts: readonly string[], close: string): string {
  let length = 0;
  for (const part of parts) length += part.length + 1;
  if (length > maxKeyLength) throw new YaqlError('MemoryQuotaExceededException', 'The value is too large to be hashed');
  work.elements += length >> 4;
  return `\0${open}${parts.join(',')}${close}`;
}

/** Text of a hash key that cannot be confused with that of another; identities have none and make it unequal to all. */
function hashPart(value: Value): string {
  const key = hashKey(value);
  if (key === null) return 'null';
  switch (typeof key) {
    case 'string':
      return `s${key.length}:${key}`;
    case 'object':
      return `#${identityOf(key)}`;
    default:
      return String(key);
  }
}

const identities = new WeakMap<object, number>();
let identityCount = 0;
function identityOf(object: object): number {
  let id = identities.get(object);
  if (id === undefined) {
    id = ++identityCount;
    identities.set(object, id);
  }
  return id;
}

/** A dict in insertion order. Keys may be any hashable value; 1, 1.0 and true are the same key. */
export class Dict extends ValueObject {
  /** Frozen dicts hash by content; the others are mutable for Python and do not hash at all. */
  readonly frozen: boolean;
  #content: Map<HashKey, Value> | null = null;
  /** The keys that are not identical to their hash key; most dicts have none. */
  #originals: Map<HashKey, Value> | null = null;

  /** Gives the content to a dict that nobody has looked into. */
  #fill: (() => Iterable<readonly [Value, Value]>) | null;

  constructor(frozen: boolean, fill: (() => Iterable<readonly [Value, Value]>) | null = null) {
    super();
    this.frozen = frozen;
    this.#fill = fill;
  }

  get #values_(): Map<HashKey, Value> {
    const fill = this.#fill;
    if (fill === null) return (this.#content ??= new Map());
    this.#fill = null;
    // No evaluation pays for it: which one comes first does not matter.
    const { elements } = work;
    for (const [key, value] of fill()) this.set(key, value);
    work.elements = elements;
    return (this.#content ??= new Map());
  }

  static of(entries: Iterable<readonly [Value, Value]>, frozen: boolean): Dict {
    const dict = new Dict(frozen);
    for (const [key, value] of entries) dict.set(key, value);
    return dict;
  }

  override get kind(): Kind {
    return this.frozen ? Kind.FrozenDict : Kind.Dict;
  }

  override hashKey(): HashKey {
    if (!this.frozen) throw unhashable('dict');
    const parts: string[] = [];
    for (const [key, value] of this.entries()) parts.push(`${hashPart(key)}=${hashPart(value)}`);
    return composite('{', parts.sort(), '}');
  }

  get size(): number {
    return this.#values_.size;
  }

  /** `undefined` when absent. TypeError for a key that cannot be hashed. */
  get(key: Value): Value | undefined {
    return this.content(key);
  }

  /** As `get`, without the backing of a `BackedDict`. */
  content(key: Value): Value | undefined {
    return this.#values_.get(typeof key === 'string' ? stringKey(key) : hashKey(key));
  }

  has(key: Value): boolean {
    return this.#values_.has(hashKey(key));
  }

  /** Only for a dict that no other code has a reference to yet: the language has no mutation. */
  set(key: Value, value: Value): void {
    work.elements += 1;
    const hash = hashKey(key);
    // A second equal key keeps the first one's place and spelling, as in Python.
    if (hash !== key && !this.#values_.has(hash)) {
      this.#originals ??= new Map();
      this.#originals.set(hash, key);
    }
    this.#values_.set(hash, value);
  }

  delete(key: Value): void {
    const hash = hashKey(key);
    this.#values_.delete(hash);
    this.#originals?.delete(hash);
  }

  *keys(): Generator<Value> {
    for (const hash of this.#values_.keys()) yield this.#originalKey(hash);
  }

  values(): IterableIterator<Value> {
    return this.#values_.values();
  }

  *entries(): Generator<[Value, Value]> {
    for (const [hash, value] of this.#values_) yield [this.#originalKey(hash), value];
  }

  #originalKey(hash: HashKey): Value {
    if (this.#originals === null) return hash as Value;
    const original = this.#originals.get(hash);
    return original === undefined ? (hash as Value) : original;
  }
}

/**
 * A dict with further values, which can be read by key without being content: they are not listed, compared,
 * counted or printed.
 */
export class BackedDict extends Dict {
  readonly further: (key: string) => Value | undefined;
  /** Names of the further values, for completion. */
  readonly furtherKeys: () => Iterable<string>;

  constructor(
    entries: Iterable<readonly [Value, Value]>,
    further: (key: string) => Value | undefined,
    furtherKeys: () => Iterable<string>,
  ) {
    super(false);
    for (const [key, value] of entries) this.set(key, value);
    this.further = further;
    this.furtherKeys = furtherKeys;
  }

  override get(key: Value): Value | undefined {
    const found = this.content(key);
    return found === undefined && typeof key === 'string' ? this.further(key) : found;
  }

  override has(key: Value): boolean {
    return this.get(key) !== undefined;
  }
}

function stringKey(key: string): string {
  return key.charCodeAt(0) === 0 ? (hashKey(key) as string) : key;
}

/** A set; see `setOrder` for the order in which its members come. */
export class ValueSet extends ValueObject {
  readonly #members = new Map<HashKey, Value>();
  readonly frozen: boolean;

  constructor(values: Iterable<Value>, frozen = true) {
    super();
    this.frozen = frozen;
    for (const value of values) {
      work.elements += 4;
      const hash = hashKey(value);
      if (!this.#members.has(hash)) this.#members.set(hash, value);
    }
    if (this.#members.size > 1) this.#arrange();
  }

  /** The order does not depend on how the set was built, but for integers as far as it does in CPython. */
  #arrange(): void {
    const entries = [...this.#members];
    this.#members.clear();
    for (const key of setOrder(entries.map(([hash]) => hash))) {
      const [hash, value] = entries[key] as [HashKey, Value];
      this.#members.set(hash, value);
    }
  }

  override get kind(): Kind {
    return this.frozen ? Kind.Set : Kind.MutableSet;
  }

  override hashKey(): HashKey {
    if (!this.frozen) throw unhashable('set');
    const parts: string[] = [];
    for (const value of this.#members.values()) parts.push(hashPart(value));
    return composite('<', parts.sort(), '>');
  }

  get size(): number {
    return this.#members.size;
  }

  has(value: Value): boolean {
    return this.#members.has(hashKey(value));
  }

  [Symbol.iterator](): IterableIterator<Value> {
    return this.#members.values();
  }
}

/** A set of texts that also equals each of its members: `$.label = testing` of a node with several labels. */
export class AnyOf extends ValueSet {}

/** The result of `keys()`, `values()` and `items()`: a live look at a dict, iterable again and again. */
export class DictView extends ValueObject {
  readonly dict: Dict;
  readonly part: 'keys' | 'values' | 'items';

  constructor(dict: Dict, part: 'keys' | 'values' | 'items') {
    super();
    this.dict = dict;
    this.part = part;
  }

  override get kind(): Kind {
    return this.part === 'values' ? Kind.ValuesView : Kind.SetView;
  }

  override hashKey(): HashKey {
    if (this.part === 'values') return this;
    throw unhashable(this.part === 'keys' ? 'dict_keys' : 'dict_items');
  }

  get size(): number {
    return this.dict.size;
  }

  *[Symbol.iterator](): IterableIterator<Value> {
    if (this.part === 'keys') yield* this.dict.keys();
    else if (this.part === 'values') yield* this.dict.values();
    else for (const [key, value] of this.dict.entries()) yield new Tuple([key, value]);
  }
}

/** An evaluated `key => value` argument. */
export class MappingRule extends ValueObject {
  readonly source: Value;
  readonly destination: Value;
  constructor(source: Value, destination: Value) {
    super();
    this.source = source;
    this.destination = destination;
  }
  override get kind(): Kind {
    return Kind.MappingRule;
  }
}

const unhashable = (type: string): YaqlError => new YaqlError('TypeError', `unhashable type: '${type}'`);

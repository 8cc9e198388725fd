import { setKey } from '../../core/data/plain-value.ts';
import { controlCharacterInText } from '../../core/text/control-characters.ts';
import type { DataNode, MappingEntry, ScalarKind, ScalarNode } from './data-node.ts';
import type { SourceRange, SourceText } from './source-text.ts';

export type JsonReading<T> =
  | { readonly ok: true; readonly root: T }
  | { readonly ok: false; readonly message: string; readonly at: SourceRange };

interface JsonOptions {
  readonly maxDepth: number;
  /** Whether NaN and Infinity are numbers, beyond JSON, as for Python. */
  readonly constants: boolean;
}

/** Values built by a reader; `start` and `end` are offsets in the text. */
interface JsonBuilder<T, Mapping> {
  scalar(kind: ScalarKind, value: ScalarNode['value'], start: number, end: number): T;
  list(items: T[], start: number, end: number): T;
  newMapping(): Mapping;
  put(mapping: Mapping, key: string, start: number, end: number, value: T): void;
  mapping(mapping: Mapping, start: number, end: number): T;
}

/** Reads a JSON text with the place of every value. Never throws for input. */
export function readJson(source: SourceText, options: JsonOptions): JsonReading<DataNode> {
  return readWith<DataNode, Map<string, MappingEntry>>(source, options, {
    scalar: (kind, value, start, end) => ({ kind, value, source, start, end }),
    list: (items, start, end) => ({ kind: 'list', items, source, start, end }),
    newMapping: () => new Map(),
    put: (entries, key, start, end, value) =>
      entries.set(key, { key: { kind: 'text', value: key, source, start, end }, value }),
    mapping: (entries, start, end) => ({ kind: 'mapping', entries, source, start, end }),
  });
}

/** Reads a JSON text without places, in a third of the time. `number` converts each number. */
export const readJsonValue = (
  source: SourceText,
  options: JsonOptions,
  number: (kind: ScalarKind, value: number, written: string) => unknown,
): JsonReading<unknown> =>
  readWith<unknown, Record<string, unknown>>(source, options, {
    scalar: (kind, value, start, end) =>
      typeof value === 'number' ? number(kind, value, source.text.slice(start, end)) : value,
    list: (items) => items,
    newMapping: () => ({}),
    put: (mapping, key, _start, _end, value) => setKey(mapping, key, value),
    mapping: (mapping) => mapping,
  });

function readWith<T, Mapping>(
  source: SourceText,
  options: JsonOptions,
  build: JsonBuilder<T, Mapping>,
): JsonReading<T> {
  try {
    return { ok: true, root: new JsonReader(source.text, options, build).document() };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { ok: false, message: error.message, at: { source, start: error.offset, end: error.offset } };
  }
}

class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const WORDS: ReadonlyMap<string, readonly [ScalarKind, ScalarNode['value']]> = new Map([
  ['null', ['null', null]],
  ['true', ['boolean', true]],
  ['false', ['boolean', false]],
]);

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

const TEXT = /"(?:[^"\\]|\\.)*"/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null|NaN|-?Infinity)(?!\w)/y;

class JsonReader<T, Mapping> {
  readonly #text: string;
  readonly #options: JsonOptions;
  readonly #build: JsonBuilder<T, Mapping>;
  #at = 0;

  constructor(text: string, options: JsonOptions, build: JsonBuilder<T, Mapping>) {
    this.#text = text;
    this.#options = options;
    this.#build = build;
  }

  document(): T {
    const value = this.#value(1);
    this.#blank();
    if (this.#at < this.#text.length) throw new JsonSyntaxError('there is text after the value', this.#at);
    return value;
  }

  #value(depth: number): T {
    this.#blank();
    const { maxDepth } = this.#options;
    if (depth > maxDepth) throw new JsonSyntaxError(`nested more than ${maxDepth} levels deep`, this.#at);
    const start = this.#at;
    switch (this.#text[start]) {
      case '{': {
        const mapping = this.#mapping(depth);
        return this.#build.mapping(mapping, start, this.#at);
      }
      case '[': {
        const items = this.#items(depth);
        return this.#build.list(items, start, this.#at);
      }
      case '"': {
        const text = this.#string();
        return this.#build.scalar('text', text, start, this.#at);
      }
      default:
        return this.#word(start);
    }
  }

  #mapping(depth: number): Mapping {
    const mapping = this.#build.newMapping();
    this.#at += 1;
    for (let first = true; !this.#closes('}', first); first = false) {
      this.#blank();
      const start = this.#at;
      if (this.#text[start] !== '"') throw new JsonSyntaxError('a quoted key is missing', start);
      const key = this.#string();
      const end = this.#at;
      this.#blank();
      if (this.#text[this.#at] !== ':') throw new JsonSyntaxError("':' is missing after the key", this.#at);
      this.#at += 1;
      this.#build.put(mapping, key, start, end, this.#value(depth + 1));
    }
    return mapping;
  }

  #items(depth: number): T[] {
    const items: T[] = [];
    this.#at += 1;
    for (let first = true; !this.#closes(']', first); first = false) items.push(this.#value(depth + 1));
    return items;
  }

  /** True at the closing bracket; otherwise skips the comma between values. */
  #closes(bracket: string, first: boolean): boolean {
    this.#blank();
    if (this.#text[this.#at] === bracket) {
      this.#at += 1;
      return true;
    }
    if (first) return false;
    if (this.#text[this.#at] !== ',') throw new JsonSyntaxError(`',' or '${bracket}' is missing`, this.#at);
    this.#at += 1;
    this.#blank();
    if (this.#text[this.#at] === bracket) throw new JsonSyntaxError('a value is missing after the comma', this.#at);
    return false;
  }

  #string(): string {
    const end = this.#text.indexOf('"', this.#at + 1);
    const plain = this.#text.slice(this.#at + 1, Math.max(end, this.#at + 1));
    if (end > 0 && !/[\\\p{Cc}]/u.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    TEXT.lastIndex = this.#at;
    const written = TEXT.exec(this.#text)?.[0];
    try {
      if (written === undefined) throw new SyntaxError();
      const value = String(JSON.parse(written));
      const control = controlCharacterInText(value);
      if (control !== undefined) throw new JsonSyntaxError(`a string has the control character ${control}`, this.#at);
      this.#at += written.length;
      return value;
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw error;
      throw new JsonSyntaxError('a string is not closed or has a bad escape', this.#at);
    }
  }

  #word(start: number): T {
    WORD.lastIndex = start;
    const written = WORD.exec(this.#text)?.[0] ?? '';
    const constant = CONSTANTS.get(written);
    if (written === '' || (constant !== undefined && !this.#options.constants))
      throw new JsonSyntaxError('a value is missing here', start);
    this.#at += written.length;
    const [kind, value] =
      WORDS.get(written) ??
      ([constant !== undefined || /[.eE]/.test(written) ? 'float' : 'integer', constant ?? Number(written)] as const);
    return this.#build.scalar(kind, value, start, this.#at);
  }

  #blank(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at += 1;
    }
  }
}

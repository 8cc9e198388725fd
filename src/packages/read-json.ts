import { SourceText } from '../documents/yaml/source-text.js';
import { type DataNode, keyName, type MappingEntry, type Place, type ScalarNode } from './data-node.js';
import type { Problems } from './problems.js';
import { SourcePlace } from './source-place.js';

const MAX_DEPTH = 100;

/** Reads a JSON file of a package with the place of every value. Undefined when it is no JSON; `problems` says why. */
export function readJson(text: string, file: string, problems: Problems): DataNode | undefined {
  const reader = new JsonReader(text, file);
  try {
    return reader.document();
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    problems.at(reader.place(error.offset), [], {
      code: 'package.json-syntax',
      message: `not valid JSON: ${error.message}`,
    });
    return undefined;
  }
}

class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const WORDS: Readonly<Record<string, Pick<ScalarNode, 'kind' | 'value'>>> = {
  null: { kind: 'null', value: null },
  true: { kind: 'boolean', value: true },
  false: { kind: 'boolean', value: false },
  // Beyond JSON, and read by the tools packages were written for.
  NaN: { kind: 'float', value: Number.NaN },
  Infinity: { kind: 'float', value: Number.POSITIVE_INFINITY },
  '-Infinity': { kind: 'float', value: Number.NEGATIVE_INFINITY },
};

class JsonReader {
  readonly #source: SourceText;
  readonly #file: string;
  #at = 0;

  constructor(text: string, file: string) {
    this.#source = new SourceText(text, file);
    this.#file = file;
  }

  place(offset: number): Place {
    return new SourcePlace(this.#file, this.#source, offset);
  }

  document(): DataNode {
    const node = this.#value(1);
    this.#blank();
    if (this.#at < this.#source.text.length) throw new JsonSyntaxError('something stands after the value', this.#at);
    return node;
  }

  #value(depth: number): DataNode {
    this.#blank();
    if (depth > MAX_DEPTH) throw new JsonSyntaxError(`nested more than ${MAX_DEPTH} levels deep`, this.#at);
    const start = this.#at;
    const place = this.place(start);
    switch (this.#source.text[start]) {
      case '{':
        return { kind: 'mapping', entries: this.#entries(depth), place };
      case '[':
        return { kind: 'list', items: this.#items(depth), place };
      case '"':
        return { kind: 'text', value: this.#string(), place };
      default:
        return { ...this.#word(), place };
    }
  }

  #entries(depth: number): Map<string, MappingEntry> {
    const entries = new Map<string, MappingEntry>();
    this.#at += 1;
    for (let first = true; !this.#closes('}', first); first = false) {
      this.#blank();
      if (this.#source.text[this.#at] !== '"') throw new JsonSyntaxError('a key in double quotes is missing', this.#at);
      const place = this.place(this.#at);
      const key: ScalarNode = { kind: 'text', value: this.#string(), place };
      this.#blank();
      if (this.#source.text[this.#at] !== ':') throw new JsonSyntaxError("':' is missing after the key", this.#at);
      this.#at += 1;
      entries.set(keyName(key), { key, value: this.#value(depth + 1) });
    }
    return entries;
  }

  #items(depth: number): DataNode[] {
    const items: DataNode[] = [];
    this.#at += 1;
    for (let first = true; !this.#closes(']', first); first = false) items.push(this.#value(depth + 1));
    return items;
  }

  /** True at the closing bracket; otherwise steps over the comma that must stand between values. */
  #closes(bracket: string, first: boolean): boolean {
    this.#blank();
    if (this.#source.text[this.#at] === bracket) {
      this.#at += 1;
      return true;
    }
    if (first) return false;
    if (this.#source.text[this.#at] !== ',') throw new JsonSyntaxError(`',' or '${bracket}' is missing`, this.#at);
    this.#at += 1;
    this.#blank();
    if (this.#source.text[this.#at] === bracket)
      throw new JsonSyntaxError('a value is missing after the comma', this.#at);
    return false;
  }

  #string(): string {
    const match = /"(?:[^"\\]|\\.)*"/y;
    match.lastIndex = this.#at;
    const written = match.exec(this.#source.text)?.[0];
    try {
      if (written === undefined) throw new SyntaxError();
      const value = JSON.parse(written) as string;
      this.#at += written.length;
      return value;
    } catch {
      throw new JsonSyntaxError('a text in double quotes is not closed or has a bad escape', this.#at);
    }
  }

  #word(): Pick<ScalarNode, 'kind' | 'value'> {
    const match = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null|NaN|-?Infinity)(?!\w)/y;
    match.lastIndex = this.#at;
    const written = match.exec(this.#source.text)?.[0];
    if (written === undefined) throw new JsonSyntaxError('a value is missing here', this.#at);
    this.#at += written.length;
    return WORDS[written] ?? { kind: /[.eE]/.test(written) ? 'float' : 'integer', value: Number(written) };
  }

  #blank(): void {
    const match = /[ \t\r\n]*/y;
    match.lastIndex = this.#at;
    this.#at += match.exec(this.#source.text)![0].length;
  }
}

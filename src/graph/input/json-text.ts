import type { ValuePath } from '../../core/plain-value.js';
import { Problems as PlacedProblems } from '../../packages/problems.js';
import { readJson } from '../../packages/read-json.js';
import { Float } from '../../yaql/index.js';

/** Lines and columns count from 1, columns in code points. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly place: TextPlace | undefined };

/** A text or a number; everything else in JSON is punctuation and words. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/**
 * JSON with numbers as exact as the data of expressions needs them: `1.0` is a float of the expression language, a
 * whole number beyond 2^53 a bigint. Everything else is what `JSON.parse` gives.
 */
export function readJsonText(text: string): JsonReading {
  const tooDeep = firstTooDeep(text);
  if (tooDeep !== undefined) {
    return { ok: false, message: `nested more than ${MAX_DEPTH} levels deep`, place: placeOf(text, tooDeep) };
  }
  const marked = markNumbers(text);
  try {
    const value: unknown = JSON.parse(text);
    return { ok: true, value: marked === undefined ? value : JSON.parse(marked, exactNumber) };
  } catch (error) {
    // The reader of packages says where; the engine's own messages do so only sometimes.
    const problems = new PlacedProblems();
    readJson(text, '', problems);
    const [found] = problems.list;
    if (found === undefined) return { ok: false, message: (error as Error).message, place: undefined };
    const { line, column = 1 } = found;
    return { ok: false, message: found.message.replace(/^not valid JSON: /, ''), place: { line, column } };
  }
}

/** Deeper than any data, and shallow enough for every walk over it. */
const MAX_DEPTH = 500;

/** Where brackets are too deep inside one another. */
function firstTooDeep(text: string): number | undefined {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === 92) at += 1;
      else if (code === 34) inText = false;
    } else if (code === 34) inText = true;
    else if (code === 91 || code === 123) {
      if (++depth > MAX_DEPTH) return at;
    } else if (code === 93 || code === 125) depth -= 1;
  }
  return undefined;
}

const MARK = '\u0000number';

/** The text with numbers that JSON.parse would change wrapped up; undefined when there are none. */
function markNumbers(text: string): string | undefined {
  let found = false;
  const marked = text.replace(TOKEN, (token) => {
    if (token.startsWith('"')) return token;
    const number = Number(token);
    const changes = Number.isInteger(number) && (/[.eE]/.test(token) || !Number.isSafeInteger(number));
    if (!changes) return token;
    found = true;
    return JSON.stringify({ [MARK]: token });
  });
  return found ? marked : undefined;
}

function exactNumber(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, MARK)) return value;
  const token = (value as Record<string, string>)[MARK]!;
  return /[.eE]/.test(token) ? new Float(Number(token)) : BigInt(token);
}

export function placeOf(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: [...before.at(-1)!].length + 1 };
}

/** Where the value at a path stands; as near above it as there is one. Undefined for text that is no JSON. */
export function findInJson(text: string, path: ValuePath): TextPlace | undefined {
  try {
    return placeOf(text, new Scanner(text).find(path));
  } catch {
    return undefined;
  }
}

/** Walks a valid JSON text without building it. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  find(path: ValuePath): number {
    this.#blank();
    const here = this.#at;
    const [step, ...rest] = path;
    if (step === undefined) return here;
    const open = this.#text[this.#at];
    if (open !== '{' && open !== '[') return here;
    this.#at += 1;
    for (let index = 0; ; index++) {
      this.#blank();
      if (this.#text[this.#at] === ',') {
        this.#at += 1;
        this.#blank();
      }
      if (this.#text[this.#at] === '}' || this.#text[this.#at] === ']') return here;
      const key = open === '{' ? this.#key() : index;
      if (key === step) return this.find(rest);
      this.#skip();
    }
  }

  #key(): string {
    const key = JSON.parse(this.#token()) as string;
    this.#blank();
    this.#at += 1;
    return key;
  }

  #skip(): void {
    let depth = 0;
    do {
      this.#blank();
      const char = this.#text[this.#at]!;
      if (char === '{' || char === '[') depth += 1;
      else if (char === '}' || char === ']') depth -= 1;
      if (/["\d-]/.test(char)) this.#token();
      else if (/[a-z]/.test(char)) this.#at += /[a-z]+/.exec(this.#text.slice(this.#at, this.#at + 5))![0].length;
      else this.#at += 1;
    } while (depth > 0);
  }

  #token(): string {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #blank(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}

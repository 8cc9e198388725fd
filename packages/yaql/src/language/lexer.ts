import { YaqlError } from '../errors.ts';
import { asciiDigits, parseInteger } from '../values/number-text.ts';
import { float } from '../values/numbers.ts';
import type { OperatorTable } from './operators.ts';
import { decodeEscapes } from './string-escapes.ts';
import type { ConstantValue } from './syntax-tree.ts';

export type Token =
  | { readonly type: 'variable'; readonly name: string; readonly start: number; readonly end: number }
  | {
      readonly type: 'constant';
      readonly value: ConstantValue;
      readonly keyword: boolean;
      readonly start: number;
      readonly end: number;
    }
  /** A name with its opening parenthesis. */
  | { readonly type: 'function'; readonly name: string; readonly start: number; readonly end: number }
  | { readonly type: 'operator'; readonly symbol: string; readonly start: number; readonly end: number }
  /** One of `( ) [ ] { } ,`, or the sign of named arguments. */
  | { readonly type: 'punctuation'; readonly symbol: string; readonly start: number; readonly end: number }
  | { readonly type: 'end'; readonly start: number; readonly end: number };

// Word characters are Unicode-aware and combining marks are not among them.
const word = '[\\p{L}\\p{N}_]';
const nameStart = '[\\p{L}\\p{Nl}\\p{No}_]';
const afterWord = `(?<!${word})`;
const beforeWord = `(?!${word})`;

const blanks = /[ \t\r\n]*/y;
const variable = new RegExp(`\\$${word}*`, 'uy');
const number = new RegExp(`${afterWord}\\p{Nd}+(?:\\.?\\p{Nd}+)?${beforeWord}`, 'uy');
const functionName = new RegExp(`${afterWord}${nameStart}${word}*\\(`, 'uy');
const keyword = new RegExp(`(?!__)${afterWord}${nameStart}${word}*${beforeWord}`, 'uy');
const singleQuoted = /'(?:[^'\\]|\\[^\n])*'/uy;
const doubleQuoted = /"(?:[^"\\]|\\[^\n])*"/uy;
const verbatim = /`(?:[^`\\]|\\[^\n])*`/uy;

const literals = new Map<string, ConstantValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

const withPythonLiterals = new Map<string, ConstantValue>([
  ...literals,
  ['True', true],
  ['False', false],
  ['None', null],
]);

/** Cuts an expression into tokens, one at a time, so that an error further on does not hide an earlier one. */
export class Lexer {
  readonly #text: string;
  readonly #operators: OperatorTable;
  readonly #literals: ReadonlyMap<string, ConstantValue>;
  #at = 0;

  constructor(text: string, operators: OperatorTable, pythonLiterals: boolean) {
    this.#text = text;
    this.#operators = operators;
    this.#literals = pythonLiterals ? withPythonLiterals : literals;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    return found === null ? null : found[0];
  }

  /** YaqlLexicalException at a character no token starts with. */
  next(): Token {
    this.#at += (this.#match(blanks) as string).length;
    const start = this.#at;
    if (start >= this.#text.length) return { type: 'end', start, end: start };
    const c = this.#text[start] as string;

    if (c === '$') {
      const name = this.#match(variable) as string;
      return { type: 'variable', name, start, end: (this.#at += name.length) };
    }
    const digits = this.#match(number);
    if (digits !== null) {
      const end = (this.#at += digits.length);
      const value = digits.includes('.')
        ? float(Number(asciiDigits(digits)))
        : this.#located(() => parseInteger(digits), start);
      return { type: 'constant', value, keyword: false, start, end };
    }
    const call = this.#match(functionName);
    if (call !== null) return { type: 'function', name: call.slice(0, -1), start, end: (this.#at += call.length) };
    const name = this.#match(keyword);
    if (name !== null) return this.#word(name, start);
    if (c === "'" || c === '"' || c === '`') return this.#quoted(c, start);
    return this.#symbol(c, start);
  }

  #located<T>(action: () => T, offset: number): T {
    try {
      return action();
    } catch (error) {
      if (error instanceof YaqlError) error.offset ??= offset;
      throw error;
    }
  }

  #word(name: string, start: number): Token {
    const end = (this.#at += name.length);
    if (this.#operators.entries.has(name)) return { type: 'operator', symbol: name, start, end };
    const literal = this.#literals.get(name);
    if (literal !== undefined) return { type: 'constant', value: literal, keyword: false, start, end };
    return { type: 'constant', value: name, keyword: true, start, end };
  }

  #quoted(quote: string, start: number): Token {
    const found = this.#match(quote === "'" ? singleQuoted : quote === '"' ? doubleQuoted : verbatim);
    if (found === null)
      throw new YaqlError('YaqlLexicalException', `illegal character ${quote}: the string has no end`, {
        offset: start,
      });
    const end = (this.#at += found.length);
    const inner = found.slice(1, -1);
    const value = quote === '`' ? inner.replaceAll('\\`', '`') : decodeEscapes(inner, start);
    return { type: 'constant', value, keyword: false, start, end };
  }

  #symbol(c: string, start: number): Token {
    for (const symbol of this.#operators.symbols) {
      if (!this.#text.startsWith(symbol, start)) continue;
      const end = (this.#at += symbol.length);
      return symbol === this.#operators.nameValueSymbol
        ? { type: 'punctuation', symbol: '=>', start, end }
        : { type: 'operator', symbol, start, end };
    }
    if ('()[]{},'.includes(c)) return { type: 'punctuation', symbol: c, start, end: ++this.#at };
    const character = String.fromCodePoint(this.#text.codePointAt(start) as number);
    throw new YaqlError('YaqlLexicalException', `illegal character '${character}'`, { offset: start });
  }
}

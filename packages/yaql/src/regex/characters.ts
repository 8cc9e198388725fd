/** Character tests of Python's `re`: Unicode by default, ASCII under `(?a)`. */

const wordPoint = /^[\p{L}\p{N}_]$/u;
const digitPoint = /^\p{Nd}$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for.
const spacePoint = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;

export function isWord(code: number): boolean {
  if (code < 128) return isAsciiWord(code);
  return wordPoint.test(String.fromCodePoint(code));
}
export const isAsciiWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;

function isDigit(code: number): boolean {
  if (code < 128) return code >= 48 && code <= 57;
  return digitPoint.test(String.fromCodePoint(code));
}

function isSpace(code: number): boolean {
  if (code < 128) return (code >= 9 && code <= 13) || (code >= 28 && code <= 32);
  return spacePoint.test(String.fromCodePoint(code));
}
const isAsciiSpace = (code: number): boolean => (code >= 9 && code <= 13) || code === 32;
const isAsciiDigit = (code: number): boolean => code >= 48 && code <= 57;

export type Category = 'd' | 'D' | 's' | 'S' | 'w' | 'W';

function inCategory(category: Category, code: number, ascii: boolean): boolean {
  switch (category) {
    case 'd':
      return ascii ? isAsciiDigit(code) : isDigit(code);
    case 'D':
      return !(ascii ? isAsciiDigit(code) : isDigit(code));
    case 's':
      return ascii ? isAsciiSpace(code) : isSpace(code);
    case 'S':
      return !(ascii ? isAsciiSpace(code) : isSpace(code));
    case 'w':
      return ascii ? isAsciiWord(code) : isWord(code);
    case 'W':
      return !(ascii ? isAsciiWord(code) : isWord(code));
  }
}

/** Letters that count as the same without regard to case although lower-casing keeps them apart. */
const equivalents: readonly (readonly number[])[] = [
  [0x69, 0x131],
  [0x73, 0x17f],
  [0xb5, 0x3bc],
  [0x345, 0x3b9, 0x1fbe],
  [0x390, 0x1fd3],
  [0x3b0, 0x1fe3],
  [0x3b2, 0x3d0],
  [0x3b5, 0x3f5],
  [0x3b8, 0x3d1],
  [0x3ba, 0x3f0],
  [0x3c0, 0x3d6],
  [0x3c1, 0x3f1],
  [0x3c2, 0x3c3],
  [0x3c6, 0x3d5],
  [0x432, 0x1c80],
  [0x434, 0x1c81],
  [0x43e, 0x1c82],
  [0x441, 0x1c83],
  [0x442, 0x1c84, 0x1c85],
  [0x44a, 0x1c86],
  [0x463, 0x1c87],
  [0x1c88, 0xa64b],
  [0x1e61, 0x1e9b],
  [0xfb05, 0xfb06],
];
const classOf = new Map<number, readonly number[]>();
for (const group of equivalents) for (const code of group) classOf.set(code, group);

function simpleCase(code: number, upper: boolean): number {
  const c = String.fromCodePoint(code);
  const mapped = upper ? c.toUpperCase() : c.toLowerCase();
  const point = mapped.codePointAt(0) as number;
  return mapped.length === String.fromCodePoint(point).length ? point : code;
}

/** One representative of all characters equal without regard to case. */
export function foldCase(code: number, ascii: boolean): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  if (ascii) return code;
  const lower = code === 0x130 ? 0x69 : simpleCase(code, false);
  return classOf.get(lower)?.[0] ?? lower;
}

export type ClassItem =
  | { readonly type: 'range'; readonly from: number; readonly to: number }
  | { readonly type: 'category'; readonly category: Category };

/** A `[..]` or a `\d`-like escape. */
export class CharacterClass {
  readonly #items: readonly ClassItem[];
  readonly #negated: boolean;
  readonly #ignoreCase: boolean;
  readonly #ascii: boolean;
  /** Answers for the first 128 code points. */
  readonly #table: Uint8Array;

  constructor(items: readonly ClassItem[], negated: boolean, ignoreCase: boolean, ascii: boolean) {
    this.#items = items;
    this.#negated = negated;
    this.#ignoreCase = ignoreCase;
    this.#ascii = ascii;
    this.#table = new Uint8Array(128);
    for (let code = 0; code < 128; code++) this.#table[code] = this.#test(code) ? 1 : 0;
  }

  has(code: number): boolean {
    return code < 128 ? this.#table[code] === 1 : this.#test(code);
  }

  #test(code: number): boolean {
    return this.#contains(code) !== this.#negated;
  }

  #contains(code: number): boolean {
    if (this.#holds(code)) return true;
    if (!this.#ignoreCase) return false;
    if (this.#ascii) {
      const other = code >= 65 && code <= 90 ? code + 32 : code >= 97 && code <= 122 ? code - 32 : code;
      return other !== code && this.#holds(other);
    }
    const lower = simpleCase(code, false);
    if (this.#holds(lower) || this.#holds(simpleCase(code, true))) return true;
    for (const other of classOf.get(lower) ?? [])
      if (this.#holds(other) || this.#holds(simpleCase(other, true))) return true;
    return false;
  }

  #holds(code: number): boolean {
    for (const item of this.#items) {
      if (item.type === 'range' ? code >= item.from && code <= item.to : inCategory(item.category, code, this.#ascii))
        return true;
    }
    return false;
  }
}

import { YaqlError } from '../errors.ts';
import { type Category, CharacterClass, type ClassItem } from './characters.ts';

export interface Flags {
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
  readonly verbose: boolean;
  readonly ascii: boolean;
}

const simpleEscapes: Record<string, number> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };
export const categories = new Set(['d', 'D', 's', 'S', 'w', 'W']);
export const isDigit = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '9';
export const isOctal = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '7';
const isHex = (c: string | undefined): boolean => c !== undefined && /^[0-9a-fA-F]$/.test(c);
export const isAsciiLetter = (c: string): boolean => /^[a-zA-Z]$/.test(c);

/** Reading of a pattern character by character, with the escapes and classes for characters. */
export class PatternReader {
  protected readonly text: readonly string[];
  protected at = 0;

  constructor(pattern: string) {
    this.text = Array.from(pattern);
  }

  protected error(message: string): YaqlError {
    return new YaqlError('re.error', `${message} at position ${this.at}`);
  }

  protected get next(): string | undefined {
    return this.text[this.at];
  }

  protected take(c: string): boolean {
    if (this.text[this.at] !== c) return false;
    this.at++;
    return true;
  }

  protected hex(length: number): number {
    let digits = '';
    while (digits.length < length && isHex(this.next)) digits += this.text[this.at++];
    if (digits.length < length) throw this.error('incomplete escape');
    const code = Number.parseInt(digits, 16);
    if (code > 0x10ffff) throw this.error('bad escape');
    return code;
  }

  protected octal(first: string, limit: number): number {
    let digits = first;
    while (digits.length < limit && isOctal(this.next)) digits += this.text[this.at++];
    const code = Number.parseInt(digits, 8);
    if (code > 0o377) throw this.error('octal escape value outside of range 0-0o377');
    return code;
  }

  /** Escapes that mean one character inside and outside of classes. */
  protected escapedCode(c: string): number {
    const simple = simpleEscapes[c];
    if (simple !== undefined) return simple;
    if (c === 'x') return this.hex(2);
    if (c === 'u') return this.hex(4);
    if (c === 'U') return this.hex(8);
    if (isAsciiLetter(c)) throw this.error(`bad escape \\${c}`);
    return c.codePointAt(0) as number;
  }

  protected classAtom(c: string): ClassItem {
    if (c !== '\\') {
      const code = c.codePointAt(0) as number;
      return { type: 'range', from: code, to: code };
    }
    const e = this.text[this.at++];
    if (e === undefined) throw this.error('bad escape (end of pattern)');
    if (categories.has(e)) return { type: 'category', category: e as Category };
    let code: number;
    if (e === 'b') code = 8;
    else if (isOctal(e)) code = this.octal(e, 3);
    else if (isDigit(e)) throw this.error(`bad escape \\${e}`);
    else code = this.escapedCode(e);
    return { type: 'range', from: code, to: code };
  }

  protected characterClass(flags: Flags): CharacterClass {
    const items: ClassItem[] = [];
    const negated = this.take('^');
    for (let first = true; ; first = false) {
      const c = this.text[this.at++];
      if (c === undefined) throw this.error('unterminated character set');
      if (c === ']' && !first) break;
      const low = this.classAtom(c);
      if (!this.take('-')) {
        items.push(low);
        continue;
      }
      const next = this.text[this.at++];
      if (next === undefined) throw this.error('unterminated character set');
      if (next === ']') {
        items.push(low, { type: 'range', from: 45, to: 45 });
        break;
      }
      const high = this.classAtom(next);
      if (low.type !== 'range' || high.type !== 'range' || high.to < low.from) throw this.error('bad character range');
      items.push({ type: 'range', from: low.from, to: high.to });
    }
    return new CharacterClass(items, negated, flags.ignoreCase, flags.ascii);
  }
}

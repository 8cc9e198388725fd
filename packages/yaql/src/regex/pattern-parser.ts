import { valueError, YaqlError } from '../errors.ts';
import { type Category, CharacterClass } from './characters.ts';
import { categories, type Flags, isAsciiLetter, isDigit, isOctal, PatternReader } from './pattern-reader.ts';
import { type PatternNode, type RepeatMode, unlimited, widthOf } from './syntax-tree.ts';

export interface ParsedPattern {
  readonly root: PatternNode;
  /** Number of capturing groups. */
  readonly groups: number;
  readonly names: ReadonlyMap<string, number>;
  readonly flags: Flags;
}

const flagOf: Record<string, keyof Flags> = { i: 'ignoreCase', m: 'multiLine', s: 'dotAll', x: 'verbose', a: 'ascii' };
const maxDepth = 200;

const identifier = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*$/u;

/** Parses a pattern of Python 3.11's `re`, text patterns only. `re.error` for patterns that Python refuses. */
export function parsePattern(pattern: string, flags: Flags, unicode: boolean): ParsedPattern {
  return new PatternParser(pattern, flags, unicode).parse();
}

class PatternParser extends PatternReader {
  #groupCount = 0;
  readonly #names = new Map<string, number>();
  readonly #openGroups = new Set<number>();
  readonly #groupWidths = new Map<number, readonly [number, number]>();
  #lookBehindGroups: number | null = null;
  #globalFlags: Flags;
  #depth = 0;
  readonly #unicode: boolean;
  /** Found wrong only after the whole pattern has been read, as in Python. */
  #lateError: YaqlError | null = null;
  /** A condition may name a group by number that is opened further on. */
  #highestCondition = 0;

  constructor(pattern: string, flags: Flags, unicode: boolean) {
    super(pattern);
    this.#unicode = unicode;
    this.#globalFlags = flags;
  }

  parse(): ParsedPattern {
    this.#readGlobalFlags();
    const root = this.#alternation(this.#globalFlags);
    if (this.#unicode && this.#globalFlags.ascii) throw valueError('ASCII and UNICODE flags are incompatible');
    if (this.at < this.text.length) throw this.error('unbalanced parenthesis');
    if (this.#highestCondition > this.#groupCount)
      throw this.error(`invalid group reference ${this.#highestCondition}`);
    if (this.#lateError !== null) throw this.#lateError;
    return { root, groups: this.#groupCount, names: this.#names, flags: this.#globalFlags };
  }

  /** `(?i)` and the like are only allowed at the very start. */
  #readGlobalFlags(): void {
    for (;;) {
      if (this.#globalFlags.verbose) this.#skipVerbose();
      const rest = this.text.slice(this.at, this.at + 12).join('');
      const found = /^\(\?([aiLmsux]+)\)/.exec(rest);
      if (found === null) return;
      for (const letter of found[1] as string) this.#globalFlags = this.#withFlag(this.#globalFlags, letter, true);
      this.at += (found[0] as string).length;
    }
  }

  #withFlag(flags: Flags, letter: string, on: boolean): Flags {
    if (letter === 'L') throw this.error("bad inline flags: cannot use 'L' flag with a str pattern");
    if (letter === 'u') return { ...flags, ascii: false };
    const name = flagOf[letter];
    if (name === undefined) throw this.error('unknown flag');
    return { ...flags, [name]: on };
  }

  #skipVerbose(): void {
    for (;;) {
      const c = this.next;
      if (c !== undefined && ' \t\n\r\v\f'.includes(c)) this.at++;
      else if (c === '#') while (this.next !== undefined && this.text[this.at++] !== '\n');
      else return;
    }
  }

  #alternation(flags: Flags): PatternNode {
    if (++this.#depth > maxDepth) throw new YaqlError('RecursionError', 'regular expression nests too deeply');
    const options: PatternNode[] = [this.#sequence(flags)];
    while (this.take('|')) options.push(this.#sequence(flags));
    this.#depth--;
    return options.length === 1 ? (options[0] as PatternNode) : { type: 'alternation', options };
  }

  #sequence(flags: Flags): PatternNode {
    const items: PatternNode[] = [];
    for (;;) {
      if (flags.verbose) this.#skipVerbose();
      const c = this.next;
      if (c === undefined || c === '|' || c === ')') break;
      this.at++;
      if (c === '*' || c === '+' || c === '?' || c === '{') this.#quantifier(c, items, flags);
      else {
        const node = this.#atom(c, flags);
        if (node !== null) items.push(node);
      }
    }
    return items.length === 1 ? (items[0] as PatternNode) : { type: 'sequence', items };
  }

  #quantifier(c: string, items: PatternNode[], flags: Flags): void {
    let min = c === '+' ? 1 : 0;
    let max = c === '?' ? 1 : unlimited;
    if (c === '{') {
      const bounds = this.next === '}' ? null : this.#bounds();
      if (bounds === null) {
        items.push({ type: 'character', code: 123, ignoreCase: flags.ignoreCase, ascii: flags.ascii });
        return;
      }
      [min, max] = bounds;
    }
    const body = items.pop();
    if (body === undefined || body.type === 'assertion') throw this.error('nothing to repeat');
    if (body.type === 'repeat') throw this.error('multiple repeat');
    const mode: RepeatMode = this.take('?') ? 'lazy' : this.take('+') ? 'possessive' : 'greedy';
    items.push({ type: 'repeat', min, max, mode, body });
  }

  /** The inside of `{n,m}`, or null if the brace is literal. */
  #bounds(): [number, number] | null {
    const start = this.at;
    const digits = (): string => {
      let text = '';
      while (isDigit(this.next)) text += this.text[this.at++];
      return text;
    };
    const low = digits();
    const high = this.take(',') ? digits() : low;
    if (!this.take('}')) {
      this.at = start;
      return null;
    }
    const min = low === '' ? 0 : Number(low);
    const max = high === '' ? unlimited : Number(high);
    if (min >= unlimited || (high !== '' && max >= unlimited))
      throw new YaqlError('OverflowError', 'the repetition number is too large');
    if (max < min) throw this.error('min repeat greater than max repeat');
    return [min, max];
  }

  #atom(c: string, flags: Flags): PatternNode | null {
    switch (c) {
      case '.':
        return { type: 'any', dotAll: flags.dotAll };
      case '^':
        return { type: 'assertion', at: flags.multiLine ? 'line-start' : 'text-start' };
      case '$':
        return { type: 'assertion', at: flags.multiLine ? 'line-end' : 'end-or-final-newline' };
      case '[':
        return { type: 'class', set: this.characterClass(flags) };
      case '(':
        return this.#group(flags);
      case '\\':
        return this.#escape(flags);
      default:
        return this.#character(c.codePointAt(0) as number, flags);
    }
  }

  #character(code: number, flags: Flags): PatternNode {
    return { type: 'character', code, ignoreCase: flags.ignoreCase, ascii: flags.ascii };
  }

  #group(flags: Flags): PatternNode | null {
    if (!this.take('?')) return this.#capture(null, flags);
    const c = this.text[this.at++];
    switch (c) {
      case undefined:
        throw this.error('unexpected end of pattern');
      case 'P':
        return this.#named(flags);
      case ':':
        return this.#close({ type: 'plain-group', body: this.#alternation(flags) });
      case '#':
        while (this.next !== undefined && this.next !== ')') this.at++;
        if (!this.take(')')) throw this.error('missing ), unterminated comment');
        return null;
      case '=':
      case '!':
        return this.#look(false, c === '!', flags);
      case '<': {
        const kind = this.text[this.at++];
        if (kind !== '=' && kind !== '!') throw this.error('unknown extension ?<');
        return this.#look(true, kind === '!', flags);
      }
      case '>':
        return this.#close({ type: 'atomic', body: this.#alternation(flags) });
      case '(':
        return this.#conditional(flags);
      default:
        if (c === '-' || 'aiLmsux'.includes(c)) return this.#scopedFlags(c, flags);
        throw this.error(`unknown extension ?${c}`);
    }
  }

  #close(node: PatternNode): PatternNode {
    if (!this.take(')')) throw this.error('missing ), unterminated subpattern');
    return node;
  }

  #capture(name: string | null, flags: Flags): PatternNode {
    const index = ++this.#groupCount;
    if (name !== null) this.#names.set(name, index);
    this.#openGroups.add(index);
    const body = this.#alternation(flags);
    const node = this.#close({ type: 'group', index, body });
    this.#openGroups.delete(index);
    this.#groupWidths.set(index, widthOf(body, this.#groupWidths));
    return node;
  }

  #nameUntil(end: string): string {
    let name = '';
    while (this.next !== undefined && this.next !== end) name += this.text[this.at++];
    if (name === '') throw this.error('missing group name');
    if (!this.take(end)) throw this.error(`missing ${end}, unterminated name`);
    return name;
  }

  #named(flags: Flags): PatternNode {
    if (this.take('<')) {
      const name = this.#nameUntil('>');
      if (!identifier.test(name)) throw this.error(`bad character in group name '${name}'`);
      if (this.#names.has(name)) throw this.error(`redefinition of group name '${name}'`);
      return this.#capture(name, flags);
    }
    if (this.take('=')) {
      const name = this.#nameUntil(')');
      if (!identifier.test(name)) throw this.error(`bad character in group name '${name}'`);
      const index = this.#names.get(name);
      if (index === undefined) throw this.error(`unknown group name '${name}'`);
      return this.#reference(index, flags);
    }
    throw this.error('unknown extension ?P');
  }

  #reference(index: number, flags: Flags): PatternNode {
    if (this.#openGroups.has(index)) throw this.error('cannot refer to an open group');
    if (this.#lookBehindGroups !== null && index > this.#lookBehindGroups)
      throw this.error('cannot refer to group defined in the same lookbehind subpattern');
    return { type: 'backreference', index, ignoreCase: flags.ignoreCase, ascii: flags.ascii };
  }

  #look(behind: boolean, negative: boolean, flags: Flags): PatternNode {
    const outer = this.#lookBehindGroups;
    if (behind && outer === null) this.#lookBehindGroups = this.#groupCount;
    const body = this.#alternation(flags);
    if (!this.take(')')) throw this.error('missing ), unterminated subpattern');
    this.#lookBehindGroups = outer;
    let width = 0;
    if (behind) {
      const [low, high] = widthOf(body, this.#groupWidths);
      if (low !== high) this.#lateError ??= this.error('look-behind requires fixed-width pattern');
      width = low;
    }
    return { type: 'look', behind, negative, body, width };
  }

  #conditional(flags: Flags): PatternNode {
    const name = this.#nameUntil(')');
    let index = this.#names.get(name);
    if (!identifier.test(name)) {
      if (!/^[0-9]+$/.test(name)) throw this.error(`bad character in group name '${name}'`);
      index = Number(name);
      if (index === 0) throw this.error('bad group number');
    } else if (index === undefined) throw this.error(`unknown group name '${name}'`);
    if (this.#lookBehindGroups !== null && (index as number) > this.#lookBehindGroups)
      throw this.error('cannot refer to group defined in the same lookbehind subpattern');
    const yes = this.#sequence(flags);
    const no: PatternNode = this.take('|') ? this.#sequence(flags) : { type: 'sequence', items: [] };
    if (this.next === '|') throw this.error('conditional backref with more than two branches');
    const node = this.#close({ type: 'conditional', index: index as number, yes, no });
    this.#highestCondition = Math.max(this.#highestCondition, index as number);
    return node;
  }

  #scopedFlags(first: string, flags: Flags): PatternNode {
    let inner = flags;
    let on = true;
    let seen = false;
    for (let c: string | undefined = first; ; c = this.text[this.at++]) {
      if (c === undefined) throw this.error('missing -, : or )');
      if (c === '-' && on) {
        on = false;
        seen = false;
      } else if (c === ':' && seen) break;
      else if (c === ')' && on) throw this.error('global flags not at the start of the expression');
      else if (isAsciiLetter(c)) {
        if (!on && (c === 'a' || c === 'u'))
          throw this.error("bad inline flags: cannot turn off flags 'a', 'u' and 'L'");
        inner = this.#withFlag(inner, c, on);
        seen = true;
      } else throw this.error(seen ? 'missing -, : or )' : 'missing flag');
    }
    return this.#close({ type: 'plain-group', body: this.#alternation(inner) });
  }

  #escape(flags: Flags): PatternNode {
    const c = this.text[this.at++];
    if (c === undefined) throw this.error('bad escape (end of pattern)');
    if (categories.has(c))
      return {
        type: 'class',
        set: new CharacterClass([{ type: 'category', category: c as Category }], false, false, flags.ascii),
      };
    switch (c) {
      case 'A':
        return { type: 'assertion', at: 'text-start' };
      case 'Z':
        return { type: 'assertion', at: 'text-end' };
      case 'b':
        return { type: 'assertion', at: flags.ascii ? 'ascii-word-boundary' : 'word-boundary' };
      case 'B':
        return { type: 'assertion', at: flags.ascii ? 'no-ascii-word-boundary' : 'no-word-boundary' };
      case '0':
        return this.#character(this.octal('0', 3), flags);
    }
    if (isDigit(c)) return this.#numberedEscape(c, flags);
    return this.#character(this.escapedCode(c), flags);
  }

  #numberedEscape(c: string, flags: Flags): PatternNode {
    let digits = c;
    if (isDigit(this.next)) {
      digits += this.text[this.at++];
      if (isOctal(digits[0]) && isOctal(digits[1]) && isOctal(this.next)) {
        digits += this.text[this.at++];
        return this.#character(this.octal(digits, 3), flags);
      }
    }
    const index = Number(digits);
    if (index > this.#groupCount) throw this.error(`invalid group reference ${index}`);
    return this.#reference(index, flags);
  }
}

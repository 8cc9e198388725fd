import { Kind, ValueObject } from '../values/kind.ts';
import { type MatchBudget, Matcher } from './matcher.ts';
import { type ParsedPattern, parsePattern } from './pattern-parser.ts';
import { compilePattern, type Program } from './program.ts';
import { expandTemplate, parseTemplate, type RegexMatch } from './template.ts';

export interface RegexOptions {
  /** Given by `regex(..)`, which asks for Unicode explicitly and so excludes `(?a)`. */
  readonly unicode?: boolean;
  readonly ignoreCase?: boolean;
  readonly multiLine?: boolean;
  readonly dotAll?: boolean;
}

/**
 * A compiled pattern of Python's `re` dialect. Matching is a backtracking machine of our own, not JavaScript's: the
 * dialects differ in too many places, and a JavaScript match cannot be interrupted.
 */
export class Regex extends ValueObject {
  readonly pattern: string;
  /** The flags in force, those written in the pattern included. */
  readonly options: { readonly ignoreCase: boolean; readonly multiLine: boolean; readonly dotAll: boolean };
  readonly groups: number;
  /** Names of groups with their numbers. */
  readonly names: readonly (readonly [string, number])[];
  readonly #parsed: ParsedPattern;
  readonly #program: Program;

  /** Throws `re.error` for a pattern Python refuses. */
  constructor(pattern: string, options: RegexOptions = {}) {
    super();
    this.pattern = pattern;
    const given = {
      ignoreCase: options.ignoreCase ?? false,
      multiLine: options.multiLine ?? false,
      dotAll: options.dotAll ?? false,
    };
    this.#parsed = parsePattern(pattern, { ...given, verbose: false, ascii: false }, options.unicode ?? false);
    const { ignoreCase, multiLine, dotAll } = this.#parsed.flags;
    this.options = { ignoreCase, multiLine, dotAll };
    this.groups = this.#parsed.groups;
    this.names = [...this.#parsed.names];
    this.#program = compilePattern(this.#parsed.root, this.#parsed.groups);
  }

  override get kind(): Kind {
    return Kind.Regex;
  }
  override hashKey(): string {
    return `\0r${this.flagText}/${this.pattern}`;
  }

  /** The flags as Python's repr shows them, e.g. `, re.IGNORECASE`; empty when there are none. */
  get flagText(): string {
    const { ignoreCase, multiLine, dotAll, verbose, ascii } = this.#parsed.flags;
    const names = [
      ignoreCase && 're.IGNORECASE',
      multiLine && 're.MULTILINE',
      dotAll && 're.DOTALL',
      verbose && 're.VERBOSE',
      ascii && 're.ASCII',
    ].filter((name) => name !== false);
    return names.length === 0 ? '' : `, ${names.join('|')}`;
  }

  /** The first match anywhere in the text. */
  search(text: string, budget: MatchBudget): RegexMatch | null {
    for (const match of this.matches(text, budget)) return match;
    return null;
  }

  /** All matches from left to right, as Python's `finditer`: after an empty match the next one must move on. */
  *matches(text: string, budget: MatchBudget): Generator<RegexMatch> {
    const points = toCodePoints(text);
    const matcher = new Matcher(this.#program, points, budget);
    let position = 0;
    let mustAdvance = false;
    while (position <= points.length) {
      if (!matcher.matchAt(position, mustAdvance)) {
        position++;
        mustAdvance = false;
        continue;
      }
      const registers = matcher.registers.slice(0, (this.groups + 1) * 2);
      yield new Match(points, registers);
      const end = registers[1] as number;
      mustAdvance = end === position;
      position = end;
    }
  }

  /** Parts between matches, with the groups of each match in between; `limit` 0 means no limit. */
  split(text: string, limit: number, budget: MatchBudget): (string | null)[] {
    const points = toCodePoints(text);
    const parts: (string | null)[] = [];
    let last = 0;
    let count = 0;
    if (limit >= 0) {
      for (const match of this.matches(text, budget)) {
        parts.push(fromCodePoints(points, last, match.start));
        for (let n = 1; n <= this.groups; n++) parts.push(match.group(n));
        last = match.end;
        if (++count === limit) break;
      }
    }
    parts.push(fromCodePoints(points, last, points.length));
    return parts;
  }

  /** Replaces matches by the result of `replacement` (null removes them); `limit` 0 means all. */
  replace(text: string, replacement: (match: RegexMatch) => string | null, limit: number, budget: MatchBudget): string {
    if (limit < 0) return text;
    const points = toCodePoints(text);
    let out = '';
    let last = 0;
    let count = 0;
    for (const match of this.matches(text, budget)) {
      out += fromCodePoints(points, last, match.start);
      out += replacement(match) ?? '';
      last = match.end;
      if (++count === limit) break;
    }
    return out + fromCodePoints(points, last, points.length);
  }

  /** Replaces matches by a template with `\1`, `\g<1>` and `\g<name>`. Throws `re.error` or IndexError for a bad one. */
  replaceByTemplate(text: string, template: string, limit: number, budget: MatchBudget): string {
    const parts = parseTemplate(template, this.#parsed.names, this.groups);
    return this.replace(text, (match) => expandTemplate(parts, match), limit, budget);
  }
}

function toCodePoints(text: string): number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number;
    points.push(code);
    if (code > 0xffff) i++;
  }
  return points;
}

function fromCodePoints(points: readonly number[], start: number, end: number): string {
  let out = '';
  for (let i = start; i < end; i++) out += String.fromCodePoint(points[i] as number);
  return out;
}

class Match implements RegexMatch {
  readonly #points: readonly number[];
  readonly #registers: readonly number[];

  constructor(points: readonly number[], registers: readonly number[]) {
    this.#points = points;
    this.#registers = registers;
  }
  get start(): number {
    return this.#registers[0] as number;
  }
  get end(): number {
    return this.#registers[1] as number;
  }
  group(n: number): string | null {
    const [start, end] = this.bounds(n);
    return start < 0 ? null : fromCodePoints(this.#points, start, end);
  }
  bounds(n: number): readonly [number, number] {
    const start = this.#registers[n * 2] as number;
    const end = this.#registers[n * 2 + 1] as number;
    return start < 0 || end < 0 ? [-1, -1] : [start, end];
  }
}

const compiled = new Map<string, Regex>();
const maxCompiled = 512;

/** A compiled pattern, from a cache of the latest ones where possible. */
export function compileRegex(pattern: string, options: RegexOptions = {}): Regex {
  const key = `${options.unicode === true}${options.ignoreCase === true}${options.multiLine === true}${options.dotAll === true}${pattern}`;
  let regex = compiled.get(key);
  if (regex === undefined) {
    regex = new Regex(pattern, options);
    if (compiled.size >= maxCompiled) compiled.clear();
    compiled.set(key, regex);
  }
  return regex;
}

/** Python 3.7's `re.escape`. */
export function escapeRegex(text: string): string {
  return text.replace(/[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g, '\\$&');
}

import type { Place } from './data-node.js';

/** A place in a text: both count from 1, columns in code points. */
export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

/** A text with the name its user knows. Lines are counted when the first place is needed. */
export class SourceText {
  readonly file: string | undefined;
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor(text: string, file?: string) {
    this.text = text;
    this.file = file;
  }

  /** Line and column of an offset in UTF-16 units; offsets beyond the end mean the end. */
  position(offset: number): LineColumn {
    const starts = this.#starts();
    const at = Math.max(0, Math.min(offset, this.text.length));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    const before = this.text.slice(starts[low]!, at);
    return { line: low + 1, column: codePoints(before) - (low === 0 && before.startsWith('\uFEFF') ? 1 : 0) + 1 };
  }

  /** Text of a line without its line break, from 1; empty when there is no such line. */
  line(number: number): string {
    const starts = this.#starts();
    const start = starts[number - 1];
    if (start === undefined) return '';
    const line = this.text.slice(start, starts[number] ?? this.text.length).replace(/[\r\n]+$/, '');
    return number === 1 ? line.replace(/^\uFEFF/, '') : line;
  }

  #starts(): number[] {
    if (this.#lineStarts) return this.#lineStarts;
    const starts = [0];
    for (const match of this.text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
    this.#lineStarts = starts;
    return starts;
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The offending text for a diagnostic: one line, at most 200 characters. */
export function excerpt(text: string): string {
  const firstLine = text.split(/\r\n|\r|\n/, 1)[0]!.trimEnd();
  const characters = [...firstLine];
  return characters.length <= 200 ? firstLine : `${characters.slice(0, 199).join('')}…`;
}

/** A range of a text. Line and column are computed on demand: hardly any value has a problem. */
export class SourcePlace implements Place {
  readonly #source: SourceText;
  readonly #start: number;
  readonly #end: number;

  constructor(source: SourceText, start: number, end: number) {
    this.#source = source;
    this.#start = start;
    this.#end = end;
  }

  get file(): string {
    return this.#source.file ?? '';
  }

  get line(): number {
    return this.#source.position(this.#start).line;
  }

  get column(): number {
    return this.#source.position(this.#start).column;
  }

  get text(): string {
    return excerpt(this.#source.text.slice(this.#start, Math.min(this.#end, this.#start + 800)));
  }
}

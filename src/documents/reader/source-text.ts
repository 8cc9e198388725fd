import { withoutEnd } from '../../core/text/text.ts';

/** A place in a text: both count from 1, columns in code points. */
interface LineColumn {
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
    const line = withoutEnd(this.text.slice(start, starts[number] ?? this.text.length), '\r\n');
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

/** A range of a text, in UTF-16 units. Every value has one; `locate` computes line and column for the few that are shown. */
export interface SourceRange {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
}

/** Place of a value in the user's text. */
export interface Place extends LineColumn {
  /** Name the user gave the text; empty for a text without a name. */
  readonly file: string;
  /** The text at the place, cut to one line of 200 characters. */
  readonly text: string;
}

/** The place that a range starts at. */
export const locate = ({ source, start, end }: SourceRange): Place => ({
  file: source.file ?? '',
  ...source.position(start),
  text: excerpt(source.text.slice(start, Math.min(end, start + 800))),
});

/** The range alone, for a value that is written nowhere but belongs there. */
export const rangeOf = ({ source, start, end }: SourceRange): SourceRange => ({ source, start, end });

/** The start of a file whose text is not read. */
export const startOf = (file: string): SourceRange => ({ source: new SourceText('', file), start: 0, end: 0 });

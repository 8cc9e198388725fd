/** Starts each line of standard error where both streams of a program are shown as one text. */
export const STDERR_MARK = '[stderr] ';

/** Joins pieces of both streams, in the order in which they are added, to one text whose lines say where they are from. */
export class MarkedOutput {
  #last: 'stdout' | 'stderr' = 'stdout';
  #isLineStart = true;

  /** The text to show for the next piece. */
  add(stream: 'stdout' | 'stderr', piece: string): string {
    if (piece === '') return '';
    const breaks = !this.#isLineStart && stream !== this.#last;
    const isLineStart = this.#isLineStart || breaks;
    this.#last = stream;
    this.#isLineStart = piece.endsWith('\n');
    const before = breaks ? '\n' : '';
    if (stream === 'stdout') return before + piece;
    return `${before}${isLineStart ? STDERR_MARK : ''}${piece.slice(0, -1).replaceAll('\n', `\n${STDERR_MARK}`)}${piece.slice(-1)}`;
  }
}

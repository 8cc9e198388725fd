import { appendFileSync, closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import {
  endOfOutput,
  OUTPUT_STREAMS,
  type OutputPart,
  type OutputStream,
  READ_BYTES,
  readOutput,
} from './output-segments.ts';

const LETTERS: Readonly<Record<OutputStream, string>> = { stdout: 'o', stderr: 'e' };
const STREAM_OF: Readonly<Record<string, OutputStream>> = { o: 'stdout', e: 'stderr' };
const BLOCK_BYTES = 64 * 1024;

/** Some 150,000 changes between the streams; what a task prints after them is kept, without its order. */
const MOST_BYTES = 1024 * 1024;

const orderFile = (folder: string): string => join(folder, 'order');

/** A stream comes up to this offset before anything that is recorded later. */
interface OrderRecord {
  readonly stream: OutputStream;
  readonly end: number;
}

/**
 * Records that a stream comes up to an offset next. Call it before bytes of the other stream are written, so that whoever
 * sees them finds the record.
 * @returns its length
 */
export function recordOrder(folder: string, stream: OutputStream, end: number): number {
  const line = `${LETTERS[stream]}${end}\n`;
  appendFileSync(orderFile(folder), line, { mode: 0o600 });
  return line.length;
}

/** Records the order in which one writer writes both streams: a record at each change between them. */
export class OutputOrder {
  readonly #folder: string;
  #current: OrderRecord | undefined;
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param start where the stream ends before these bytes */
  beforeWrite(stream: OutputStream, start: number, length: number): void {
    const before = this.#current;
    this.#current = { stream, end: start + length };
    if (before === undefined || before.stream === stream || this.#bytes > MOST_BYTES) return;
    try {
      this.#bytes += recordOrder(this.#folder, before.stream, before.end);
    } catch {
      // A full disk: the task continues, and its output has no order from here on.
      this.#bytes = Number.POSITIVE_INFINITY;
    }
  }
}

type OrderedPart =
  | (Exclude<OutputPart, { kind: 'none' }> & { readonly stream: OutputStream })
  | { readonly kind: 'none' };

/** Reads streams of an execution in the order in which they were written, also while they are written. */
export class OrderedOutput {
  readonly #folder: string;
  readonly #streams: readonly OutputStream[];
  readonly #mostPieces: number;
  readonly #offsets: Record<OutputStream, number>;
  #readTo = 0;
  #pieces: OrderRecord[] = [];

  /**
   * @param from bytes of each stream that the reader has
   * @param mostPieces of one look: if the streams changed more often since the last, neighbouring pieces are joined
   */
  constructor(
    folder: string,
    streams: readonly OutputStream[],
    from: Readonly<Record<OutputStream, number>>,
    { mostPieces = Number.POSITIVE_INFINITY }: { readonly mostPieces?: number } = {},
  ) {
    this.#folder = folder;
    this.#streams = streams;
    this.#mostPieces = mostPieces;
    this.#offsets = { ...from };
  }

  /** What has been read of each stream. */
  get offsets(): Readonly<Record<OutputStream, number>> {
    return { ...this.#offsets };
  }

  /**
   * The next part, valid until the next one is requested; `none` if there is nothing more yet.
   * @param isOver nothing is written any more: what is recorded and not there never comes
   */
  next(buffer: Buffer = Buffer.allocUnsafe(READ_BYTES), isOver = false): OrderedPart {
    for (let hasLooked = false; ; ) {
      const piece = this.#pieces[0];
      if (piece === undefined) {
        if (hasLooked) return { kind: 'none' };
        hasLooked = true;
        this.#pieces = this.#look();
        continue;
      }
      const { stream, end } = piece;
      const offset = this.#offsets[stream];
      if (offset >= end) {
        this.#pieces.shift();
        continue;
      }
      const part = readOutput(this.#folder, stream, offset, buffer.subarray(0, Math.min(buffer.length, end - offset)));
      if (part.kind === 'none') {
        if (!isOver) return part;
        this.#pieces.shift();
        continue;
      }
      this.#offsets[stream] = part.kind === 'gap' ? part.to : offset + part.bytes.length;
      return { ...part, stream };
    }
  }

  #look(): OrderRecord[] {
    // The ends first: whatever lies before them and before another stream's bytes is in the records by then.
    const ends = this.#streams.map((stream) => ({ stream, end: endOfOutput(this.#folder, stream) }));
    const records = this.#newRecords().filter(
      ({ stream, end }) => this.#streams.includes(stream) && end > this.#offsets[stream],
    );
    return [...joinedPieces(records, this.#mostPieces), ...ends];
  }

  #newRecords(): OrderRecord[] {
    let fd: number;
    try {
      fd = openSync(orderFile(this.#folder), 'r');
    } catch {
      return [];
    }
    try {
      const records: OrderRecord[] = [];
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      for (;;) {
        const read = block.subarray(0, readSync(fd, block, 0, block.length, this.#readTo));
        const whole = read.lastIndexOf(10) + 1;
        if (whole === 0) return records;
        this.#readTo += whole;
        for (const line of read.toString('latin1', 0, whole - 1).split('\n')) {
          const [stream, end] = [STREAM_OF[line[0] ?? ''], Number(line.slice(1))];
          if (stream !== undefined && Number.isSafeInteger(end)) records.push({ stream, end });
        }
      }
    } finally {
      closeSync(fd);
    }
  }
}

function joinedPieces(records: readonly OrderRecord[], most: number): OrderRecord[] {
  const size = Math.max(1, Math.ceil(records.length / most));
  if (size === 1) return [...records];
  const pieces: OrderRecord[] = [];
  for (let at = 0; at < records.length; at += size) {
    const group = records.slice(at, at + size);
    for (const stream of OUTPUT_STREAMS) pieces.push(...group.filter((one) => one.stream === stream).slice(-1));
  }
  return pieces;
}

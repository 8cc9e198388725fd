import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { OutputRecord } from '../journal/result.ts';
import { readableTail } from './output-text.ts';

export type OutputStream = 'stdout' | 'stderr';
export const OUTPUT_STREAMS: readonly OutputStream[] = ['stdout', 'stderr'];

/** Bytes kept of each stream: one segment from the start, the others from the end. */
const DEFAULT_OUTPUT_LIMIT = 16 * 1024 * 1024;
const SEGMENT_BYTES = 1024 * 1024;
const TAIL_BYTES = 4096;
/** Limit of one read, which bounds a follower's memory. */
export const READ_BYTES = 256 * 1024;

interface Segment {
  readonly start: number;
  readonly path: string;
}

export const segmentPath = (folder: string, stream: OutputStream, start: number): string =>
  join(folder, `${stream}.${String(start).padStart(15, '0')}`);

export function segmentsOf(folder: string, stream: OutputStream): Segment[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${stream}.`) && /^\d{15}$/.test(name.slice(stream.length + 1)))
    .sort()
    .map((name) => ({ start: Number(name.slice(stream.length + 1)), path: join(folder, name) }));
}

/**
 * Stores one output stream in files named after the offset of their first byte. Files are only appended to, so that
 * anyone can read them live and resume from an offset. Over the limit, the oldest files except the first are removed.
 * On a full disk, output is lost (and counted), but the task continues.
 */
export class SegmentedOutput {
  readonly #folder: string;
  readonly #stream: OutputStream;
  readonly #limit: number;
  readonly #segmentBytes: number;
  #segments: { start: number; path: string; size: number }[] = [];
  #fd: number | undefined;
  #bytes = 0;
  #kept = 0;
  #tail: Buffer = Buffer.alloc(0);
  #binary = false;
  /** Start of a character whose remaining bytes are still to come. */
  #unfinished: Buffer = Buffer.alloc(0);

  constructor(folder: string, stream: OutputStream, limit: number = DEFAULT_OUTPUT_LIMIT) {
    this.#folder = folder;
    this.#stream = stream;
    this.#limit = Math.max(limit, 4);
    this.#segmentBytes = Math.max(1, Math.min(SEGMENT_BYTES, Math.floor(this.#limit / 4)));
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const current = this.#current();
      const part = chunk.subarray(at, at + this.#segmentBytes - (current?.size ?? 0));
      if (current === undefined || !this.#append(current, part)) this.#closeSegment();
      this.#bytes += part.length;
      at += part.length;
    }
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    if (!this.#binary) this.#judge(chunk);
  }

  /** The segment for the next byte; undefined if the disk has no space for one. */
  #current(): { start: number; path: string; size: number } | undefined {
    const last = this.#segments.at(-1);
    if (this.#fd !== undefined && last !== undefined && last.size < this.#segmentBytes) return last;
    this.#closeSegment();
    if (this.#segments.length * this.#segmentBytes + this.#segmentBytes > this.#limit) {
      const [oldest] = this.#segments.splice(1, 1);
      if (oldest !== undefined) {
        unlinkSync(oldest.path);
        this.#kept -= oldest.size;
      }
    }
    const segment = { start: this.#bytes, path: segmentPath(this.#folder, this.#stream, this.#bytes), size: 0 };
    try {
      this.#fd = openSync(segment.path, 'ax', 0o600);
    } catch {
      return undefined;
    }
    this.#segments.push(segment);
    return segment;
  }

  /** False if not everything could be written: the rest of the part is lost and the segment is closed. */
  #append(segment: { size: number }, part: Buffer): boolean {
    try {
      for (let at = 0; at < part.length; ) {
        const written = writeSync(this.#fd!, part, at);
        at += written;
        segment.size += written;
        this.#kept += written;
      }
      return true;
    } catch {
      return false;
    }
  }

  #closeSegment(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #judge(chunk: Buffer): void {
    if (chunk.includes(0)) {
      this.#binary = true;
      return;
    }
    const text = this.#unfinished.length === 0 ? chunk : Buffer.concat([this.#unfinished, chunk]);
    let end = text.length;
    // The lead byte of a character that is cut off here is at most three bytes back.
    for (let back = 1; back <= Math.min(3, text.length); back += 1) {
      const byte = text[text.length - back]!;
      if (byte < 0x80) break;
      if (byte < 0xc0) continue;
      if ((byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back) end = text.length - back;
      break;
    }
    this.#binary = !isUtf8(text.subarray(0, end));
    this.#unfinished = Buffer.from(text.subarray(end));
  }

  /** Closes the stream; the record counts every byte. */
  end(): OutputRecord {
    if (this.#fd !== undefined) {
      try {
        fdatasyncSync(this.#fd);
      } catch {
        // A full or broken disk: readers will see the gap.
      }
    }
    this.#closeSegment();
    return {
      bytes: this.#bytes,
      dropped: this.#bytes - this.#kept,
      tail: readableTail(this.#tail),
      binary: this.#binary || this.#unfinished.length > 0,
    };
  }
}

/** Result of reading a stream at an offset. */
export type OutputPart =
  | { readonly kind: 'data'; readonly offset: number; readonly bytes: Buffer }
  /** These bytes were dropped; reading continues at `to`. */
  | { readonly kind: 'gap'; readonly offset: number; readonly to: number }
  /** Nothing more yet. */
  | { readonly kind: 'none' };

/** Where a stream ends so far; 0 before it starts. */
export function endOfOutput(folder: string, stream: OutputStream): number {
  const last = existsSync(folder) ? segmentsOf(folder, stream).at(-1) : undefined;
  // It may have been dropped since: then there is a later one, which the next look finds.
  return last === undefined ? 0 : last.start + (statSync(last.path, { throwIfNoEntry: false })?.size ?? 0);
}

/** Reads from an offset, at most as much as the buffer holds; the part's bytes are a view of the buffer. */
export function readOutput(
  folder: string,
  stream: OutputStream,
  offset: number,
  buffer: Buffer = Buffer.allocUnsafe(READ_BYTES),
): OutputPart {
  for (;;) {
    const segments = segmentsOf(folder, stream);
    const at = segments.findLastIndex((segment) => segment.start <= offset);
    const here = segments[at];
    const next = segments[at + 1];
    if (here !== undefined) {
      const bytes = readAt(here.path, offset - here.start, buffer);
      if (bytes === undefined) continue; // dropped between the listing and now
      if (bytes.length > 0) return { kind: 'data', offset, bytes };
    }
    if (next === undefined) return { kind: 'none' };
    return { kind: 'gap', offset, to: next.start };
  }
}

function readAt(path: string, position: number, buffer: Buffer): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, position));
  } catch {
    return buffer.subarray(0, 0);
  } finally {
    closeSync(fd);
  }
}

/** The record of a stream whose writer has ended, from its files. */
export function measureOutput(folder: string, stream: OutputStream): OutputRecord {
  const segments = segmentsOf(folder, stream);
  const last = segments.at(-1);
  if (last === undefined) return { bytes: 0, dropped: 0, tail: '', binary: false };
  const sizes = segments.map((segment) => statSync(segment.path).size);
  const bytes = last.start + sizes.at(-1)!;
  const tail = readAt(last.path, Math.max(0, sizes.at(-1)! - TAIL_BYTES), Buffer.alloc(TAIL_BYTES)) ?? Buffer.alloc(0);
  return {
    bytes,
    dropped: bytes - sizes.reduce((sum, size) => sum + size, 0),
    tail: readableTail(tail),
    binary: tail.includes(0),
  };
}

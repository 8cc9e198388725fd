import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isMapping } from '../../core/data/plain-value.ts';
import type { OutputStream } from './output-segments.ts';

/** One piece of output as it arrived, or the end of a task; by it the outputs of all tasks of a run are one log. */
export interface LogArrival {
  /** When it arrived here. */
  readonly at: string;
  readonly task: string;
  readonly node: string;
  readonly attempt: number;
  /** Absent at the end of the task. */
  readonly piece?: { readonly stream: OutputStream; readonly offset: number; readonly length: number };
  readonly outcome?: string;
}

/** An arrival with its place in the index: offsets of its first byte and of the one after it. */
export interface PlacedArrival {
  readonly arrival: LogArrival;
  readonly start: number;
  readonly end: number;
}

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 10;

/** Lines are short and are appended with one call each: processes that share the file do not mix them. */
export const recordArrival = (file: string, arrival: LogArrival): void =>
  appendFileSync(file, `${JSON.stringify(arrival)}\n`, { mode: 0o600 });

/** From a position on, oldest first, to the current end. */
export function* arrivalsAfter(file: string, from: number): Generator<PlacedArrival, void, void> {
  const fd = openToRead(file);
  if (fd === undefined) return;
  try {
    let at = from;
    for (;;) {
      const block = bytesOf(fd, at, BLOCK_BYTES);
      const whole = block.lastIndexOf(NEWLINE) + 1;
      if (whole === 0) return;
      yield* placed(block.subarray(0, whole), at);
      at += whole;
    }
  } finally {
    closeSync(fd);
  }
}

/** Up to a place, newest first. `to`: default the end. */
export function* arrivalsBefore(file: string, to = Number.POSITIVE_INFINITY): Generator<PlacedArrival, void, void> {
  const fd = openToRead(file);
  if (fd === undefined) return;
  try {
    let end = Math.min(to, fstatSync(fd).size);
    while (end > 0) {
      const from = Math.max(0, end - BLOCK_BYTES);
      const block = bytesOf(fd, from, end - from);
      // The first line of a block may have started before it.
      const first = from === 0 ? 0 : block.indexOf(NEWLINE) + 1;
      const whole = block.lastIndexOf(NEWLINE) + 1;
      yield* [...placed(block.subarray(first, whole), from + first)].reverse();
      if (from + first >= end) return;
      end = from + first;
    }
  } finally {
    closeSync(fd);
  }
}

function* placed(lines: Buffer, offset: number): Generator<PlacedArrival, void, void> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start) + 1;
    const arrival = arrivalIn(lines.toString('utf8', start, end - 1));
    if (arrival !== undefined) yield { arrival, start: offset + start, end: offset + end };
    start = end;
  }
}

/** Undefined for a line that a crash left half written. */
function arrivalIn(line: string): LogArrival | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isArrival(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isArrival = (value: unknown): value is LogArrival =>
  isMapping(value) && typeof value.at === 'string' && typeof value.task === 'string' && typeof value.node === 'string';

function openToRead(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch {
    // Nothing has arrived yet.
    return undefined;
  }
}

function bytesOf(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, from));
}

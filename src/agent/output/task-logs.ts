import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isMapping } from '../../core/data/plain-value.ts';
import type { ExecutionKey } from '../../core/task-on-node.ts';
import { readJson, replaceDurably, unlessUnreadable } from '../../platform/files/durable-file.ts';
import { folderName } from '../journal/execution.ts';
import type { TaskResult } from '../journal/result.ts';
import { watchFolder } from '../journal/watch-folder.ts';
import type { LogChunk } from '../order-source.ts';
import { OrderedOutput, recordOrder } from './ordered-output.ts';
import {
  endOfOutput,
  OUTPUT_STREAMS,
  type OutputStream,
  readOutput,
  segmentPath,
  segmentsOf,
} from './output-segments.ts';
import { readableText } from './output-text.ts';
import { arrivalsAfter, arrivalsBefore, type LogArrival, recordArrival } from './run-log-index.ts';

/** Where to keep the output of tasks, and how much of it. */
interface TaskLogsOptions {
  /** Created when first needed. Processes that share it share all logs. */
  readonly folder: string;
  /** Bytes kept of each stream of each attempt, from its start and its end. Default 16 MiB. */
  readonly bytesPerStream?: number;
}

/** One part of a stream, with its offset in that stream. */
export type LogPart =
  | (PartOfStream & { readonly kind: 'output'; readonly bytes: Buffer })
  /** Bytes that were not kept. */
  | (PartOfStream & { readonly kind: 'gap'; readonly to: number })
  /** The task has ended; nothing follows. */
  | { readonly kind: 'ended'; readonly result: TaskResult };

interface PartOfStream {
  readonly stream: OutputStream;
  readonly offset: number;
  /** Where reading continues after it: an offset in what was requested, one stream or both together. */
  readonly next: number;
}

interface ReadOptions {
  /** Bytes to skip of what is requested. */
  readonly offset?: number;
  /** Waits for more until the task's end; otherwise ends with the current output. */
  readonly follow?: boolean;
  readonly stop?: AbortSignal;
}

const DEFAULT_BYTES = 16 * 1024 * 1024;
const SEGMENT_BYTES = 1024 * 1024;
/** How often to poll if the file system sends no notifications, and for a log that has not started. */
const POLL_MS = 500;

/** The amount of output in a result, for readers. */
const isShipped = (value: unknown): value is TaskResult =>
  isMapping(value) && isMapping(value.output) && isMapping(value.output.stdout) && isMapping(value.output.stderr);

/**
 * The output of tasks on nodes, in files laid out as on the node: readable while the task runs, from any offset.
 * Chunks may arrive twice, from two followers concurrently, and in any order: the bytes at an offset are always the same,
 * and are written at that offset only.
 */
export class TaskLogs {
  readonly #root: string;
  readonly #limit: number;
  readonly #segmentBytes: number;

  constructor({ folder, bytesPerStream = DEFAULT_BYTES }: TaskLogsOptions) {
    this.#root = folder;
    this.#limit = Math.max(4, bytesPerStream);
    this.#segmentBytes = Math.max(1, Math.min(SEGMENT_BYTES, Math.floor(this.#limit / 4)));
  }

  /** Stores a chunk. @throws the file system's errors, e.g. a full disk: retry it then. */
  append(key: ExecutionKey, chunk: LogChunk): void {
    const folder = this.#folder(key);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (chunk.kind === 'ended') {
      if (this.result(key) !== undefined) return;
      replaceDurably(join(folder, 'result.json'), JSON.stringify(chunk.result));
      this.#arrived(key, { outcome: chunk.result.outcome });
      return;
    }
    const { stream, offset, bytes } = chunk;
    const known = endOfOutput(folder, stream);
    if (offset + bytes.length > known) recordOrder(folder, stream, offset + bytes.length);
    for (let at = 0; at < bytes.length; ) at += this.#write(folder, stream, offset + at, bytes.subarray(at));
    const [from, to] = [Math.max(offset, known), offset + bytes.length];
    if (to > from) this.#arrived(key, { piece: { stream, offset: from, length: to - from } });
  }

  /** Pieces of the output of all tasks of a run as they arrived: from a place on, or up to one, newest first. */
  arrivals(run: string, { after, before }: { readonly after?: number; readonly before?: number }) {
    return after === undefined ? arrivalsBefore(this.#index(run), before) : arrivalsAfter(this.#index(run), after);
  }

  /**
   * The lines that an arrival completed. Of a line that is longer than the limit, only a part; an incomplete last line of
   * a task is returned at its end.
   */
  linesOf(run: string, { task, node, attempt, piece }: LogArrival): readonly LogLine[] {
    const folder = this.#folder({ run, task, node, generation: attempt });
    if (!existsSync(folder)) return [];
    if (piece !== undefined) {
      const { stream, offset, length } = piece;
      const bytes = bytesBetween(folder, stream, offset, offset + length);
      const end = bytes.lastIndexOf(NEWLINE);
      if (end < 0) return [];
      const before = bytesBetween(folder, stream, Math.max(0, offset - LINE_LIMIT), offset);
      const started = before.subarray(before.lastIndexOf(NEWLINE) + 1);
      return textLines(Buffer.concat([started, bytes.subarray(0, end)]), stream);
    }
    return OUTPUT_STREAMS.flatMap((stream) => {
      const end = endOfOutput(folder, stream);
      const bytes = bytesBetween(folder, stream, Math.max(0, end - LINE_LIMIT), end);
      const rest = bytes.subarray(bytes.lastIndexOf(NEWLINE) + 1);
      return rest.length === 0 ? [] : textLines(rest, stream);
    });
  }

  #arrived({ run, task, node, generation }: ExecutionKey, what: Pick<LogArrival, 'piece' | 'outcome'>): void {
    recordArrival(this.#index(run), { at: new Date().toISOString(), task, node, attempt: generation, ...what });
  }

  /** No name of a task becomes this one. */
  #index(run: string): string {
    return join(this.#root, folderName(run), '=index');
  }

  /** The attempts of a task that have a log, in order. */
  attempts({ run, task, node }: Omit<ExecutionKey, 'generation'>): number[] {
    const folder = join(this.#root, folderName(run), folderName(task), folderName(node));
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .map(Number)
      .filter((number) => Number.isSafeInteger(number) && number > 0)
      .sort((a, b) => a - b);
  }

  /** The result of the attempt; undefined until it is shipped. */
  result(key: ExecutionKey): TaskResult | undefined {
    return unlessUnreadable(() => readJson(join(this.#folder(key), 'result.json'), isShipped));
  }

  /**
   * Reads a stream of one attempt, or both as one in the order in which they were written, in parts of at most 256 KiB, each
   * valid until the next is requested.
   */
  async *read(
    key: ExecutionKey,
    stream: OutputStream | undefined,
    { offset: skipped = 0, follow = false, stop }: ReadOptions = {},
  ): AsyncGenerator<LogPart, void, void> {
    const folder = this.#folder(key);
    const streams = stream === undefined ? OUTPUT_STREAMS : [stream];
    const from = { stdout: 0, stderr: 0 };
    if (stream !== undefined) from[stream] = skipped;
    const output = new OrderedOutput(folder, streams, from);
    const next = () => streams.reduce((sum, one) => sum + output.offsets[one], 0);
    const buffer = Buffer.allocUnsafe(256 * 1024);
    const isStopped = () => stop?.aborted === true;
    while (!isStopped()) {
      const change = nextChange(folder, stop);
      try {
        // Read the result first: by then all output is in the files.
        const result = this.result(key);
        for (;;) {
          const before = next();
          const part = output.next(buffer, result !== undefined || !follow);
          if (part.kind === 'none') break;
          const skip = Math.max(0, Math.min(skipped, next()) - before);
          const [offset, rest] = [part.offset + skip, { stream: part.stream, next: next() }];
          if (part.kind === 'gap' ? offset === part.to : skip === part.bytes.length) continue;
          if (part.kind === 'gap') yield { kind: 'gap', offset, to: part.to, ...rest };
          else yield { kind: 'output', offset, bytes: part.bytes.subarray(skip), ...rest };
          if (isStopped()) return;
        }
        if (result !== undefined) {
          let at = next();
          for (const one of streams) {
            const [{ bytes }, offset] = [result.output[one], output.offsets[one]];
            if (bytes <= offset) continue;
            at += bytes - offset;
            if (at > skipped) yield { kind: 'gap', stream: one, offset, to: bytes, next: at };
          }
          yield { kind: 'ended', result };
          return;
        }
        if (!follow) return;
        await change.arrived;
      } finally {
        change.close();
      }
    }
  }

  #folder({ run, task, node, generation }: ExecutionKey): string {
    return join(this.#root, folderName(run), folderName(task), folderName(node), String(generation));
  }

  /** Writes as much as fits into one segment; returns how much that was. */
  #write(folder: string, stream: OutputStream, offset: number, bytes: Uint8Array): number {
    const segment = segmentsOf(folder, stream).findLast(({ start }) => start <= offset);
    const isInside =
      segment !== undefined &&
      offset < segment.start + this.#segmentBytes &&
      offset <= segment.start + statSync(segment.path).size;
    const start = isInside ? segment.start : offset;
    const part = bytes.subarray(0, this.#segmentBytes - (offset - start));
    const fd = openSync(segmentPath(folder, stream, start), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      for (let at = 0; at < part.length; ) at += writeSync(fd, part, at, part.length - at, offset - start + at);
    } finally {
      closeSync(fd);
    }
    if (!isInside) this.#keepLimit(folder, stream);
    return part.length;
  }

  /** Over the limit, removes the oldest segments except the first. */
  #keepLimit(folder: string, stream: OutputStream): void {
    const segments = segmentsOf(folder, stream);
    const tooMany = segments.length - Math.floor(this.#limit / this.#segmentBytes);
    for (const { path } of segments.slice(1, 1 + Math.max(0, tooMany))) {
      try {
        unlinkSync(path);
      } catch {
        // Another process has already removed it.
      }
    }
  }
}

const NEWLINE = 10;
/** Longer lines of the log of a run are cut. */
const LINE_LIMIT = 8 * 1024;

/** One line of a log of a whole run. */
interface LogLine {
  readonly stream: OutputStream;
  readonly text: string;
}

const textLines = (bytes: Buffer, stream: OutputStream): LogLine[] =>
  readableText(bytes)
    .split('\n')
    .map((text) => ({ stream, text: text.replace(/\r$/, '').slice(0, LINE_LIMIT) }));

/** The stored output between two offsets. */
function bytesBetween(folder: string, stream: OutputStream, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  const parts: Buffer[] = [];
  for (let at = from; at < to; ) {
    const part = readOutput(folder, stream, at, buffer);
    if (part.kind === 'none') break;
    if (part.kind === 'data') parts.push(Buffer.from(part.bytes.subarray(0, to - at)));
    at = part.kind === 'gap' ? part.to : part.offset + part.bytes.length;
  }
  return Buffer.concat(parts);
}

/** Resolves when something in the folder changes, after a timeout, and on stop. */
function nextChange(folder: string, stop: AbortSignal | undefined): { arrived: Promise<void>; close(): void } {
  let ring: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    ring = resolve;
  });
  const watcher = watchFolder(folder, ring);
  const timer = setTimeout(ring, POLL_MS);
  stop?.addEventListener('abort', ring, { once: true });
  return {
    arrived,
    close: () => {
      clearTimeout(timer);
      watcher.close();
      stop?.removeEventListener('abort', ring);
    },
  };
}

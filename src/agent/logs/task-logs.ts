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
import { folderName } from '../execution.ts';
import type { LogChunk } from '../order-source.ts';
import { OUTPUT_STREAMS, type OutputStream, readOutput, segmentPath, segmentsOf } from '../output-segments.ts';
import { readableText } from '../output-text.ts';
import type { TaskResult } from '../result.ts';
import { watchFolder } from '../watch-folder.ts';
import { arrivalsAfter, arrivalsBefore, type LogArrival, recordArrival } from './run-log-index.ts';

/** Where to keep the output of tasks, and how much of it. */
interface TaskLogsOptions {
  /** Created when first needed. Processes that share it share all logs. */
  readonly folder: string;
  /** Bytes kept of each stream of each attempt, from its start and its end. Default 16 MiB. */
  readonly bytesPerStream?: number;
}

/** One part of a stream. */
export type LogPart =
  | { readonly kind: 'output'; readonly offset: number; readonly bytes: Buffer }
  /** Bytes that were not kept; reading continues at `to`. */
  | { readonly kind: 'gap'; readonly offset: number; readonly to: number }
  /** The task has ended; nothing follows. */
  | { readonly kind: 'ended'; readonly result: TaskResult };

interface ReadOptions {
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
    const known = endOf(folder, stream);
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
      const end = endOf(folder, stream);
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

  /** Reads a stream of one attempt, in parts of at most 256 KiB, each valid until the next is requested. */
  async *read(key: ExecutionKey, stream: OutputStream, options: ReadOptions = {}): AsyncGenerator<LogPart, void, void> {
    const folder = this.#folder(key);
    const { follow = false, stop } = options;
    const buffer = Buffer.allocUnsafe(256 * 1024);
    let offset = options.offset ?? 0;
    const isStopped = () => stop?.aborted === true;
    while (!isStopped()) {
      const change = nextChange(folder, stop);
      try {
        // Read the result first: by then all output is in the files.
        const result = this.result(key);
        for (;;) {
          const part = existsSync(folder) ? readOutput(folder, stream, offset, buffer) : { kind: 'none' as const };
          if (part.kind === 'none') break;
          offset = part.kind === 'gap' ? part.to : part.offset + part.bytes.length;
          yield part.kind === 'gap' ? part : { kind: 'output', offset: part.offset, bytes: part.bytes };
          if (isStopped()) return;
        }
        if (result !== undefined) {
          const { bytes } = result.output[stream];
          if (bytes > offset) yield { kind: 'gap', offset, to: bytes };
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

/** Where the output ends so far. */
function endOf(folder: string, stream: OutputStream): number {
  const last = segmentsOf(folder, stream).at(-1);
  return last === undefined ? 0 : last.start + statSync(last.path).size;
}

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

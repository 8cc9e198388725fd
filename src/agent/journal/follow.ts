import { OrderedOutput } from '../output/ordered-output.ts';
import { OUTPUT_STREAMS, type OutputStream, READ_BYTES } from '../output/output-segments.ts';
import type { Journal, Progress } from './journal.ts';
import type { TaskResult } from './result.ts';
import { type Machine, settle } from './settle.ts';
import { watchFolder } from './watch-folder.ts';

/** Number of bytes of each stream that the follower has. */
export type OutputOffsets = Readonly<Record<OutputStream, number>>;

export type FollowEvent =
  | { readonly kind: 'progress'; readonly progress: Progress }
  /**
   * At most 256 KiB, valid until the next event is requested (copy what you keep); offsets count every byte written.
   */
  | { readonly kind: 'output'; readonly stream: OutputStream; readonly offset: number; readonly bytes: Buffer }
  /** Bytes dropped because of the limit. */
  | { readonly kind: 'gap'; readonly stream: OutputStream; readonly offset: number; readonly to: number }
  /** The last event. */
  | { readonly kind: 'ended'; readonly result: TaskResult };

/** Each piece is one request to the log store: a task that changes streams more often than that between two looks does not fall behind. */
const MOST_PIECES = 200;
/** How often to check the supervisor, and the files if the file system sends no notifications. */
const LOOK_MS = 1000;

/**
 * Follows an execution live to completion, both streams in the order in which the task wrote them, from the given offsets, so that a follower can resume. Holds one chunk at
 * a time, however much the task prints. Returns without an `ended` event when `stop` is aborted.
 */
export async function* follow(
  journal: Journal,
  machine: Machine,
  from: OutputOffsets,
  stop?: AbortSignal,
): AsyncGenerator<FollowEvent, void, void> {
  const output = new OrderedOutput(journal.folder, OUTPUT_STREAMS, from, { mostPieces: MOST_PIECES });
  const bell = new Bell(journal.folder, stop);
  // One buffer for all reads: otherwise the agent could grow by a gigabyte of garbage before it is collected.
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const isStopped = () => stop?.aborted === true;
  let shown = '';
  try {
    while (!isStopped()) {
      bell.reset();
      // Read the result first: by then all output is in the files.
      const result = await settle(journal.folder, machine);
      const progress = journal.readProgress();
      const text = JSON.stringify(progress);
      if (progress !== undefined && text !== shown) {
        shown = text;
        yield { kind: 'progress', progress };
      }
      for (;;) {
        const part = output.next(buffer, result !== undefined);
        if (part.kind === 'none') break;
        yield part.kind === 'gap' ? part : { ...part, kind: 'output' };
        if (isStopped()) return;
      }
      if (result !== undefined) {
        for (const stream of OUTPUT_STREAMS) {
          const to = result.output[stream].bytes;
          const offset = output.offsets[stream];
          if (to > offset) yield { kind: 'gap', stream, offset, to };
        }
        yield { kind: 'ended', result };
        return;
      }
      await bell.rung();
    }
  } finally {
    bell.close();
  }
}

/** Rings when something in a folder changes, at intervals, and on stop. */
class Bell {
  readonly #watcher: { close(): void };
  readonly #stop: AbortSignal | undefined;
  #isRung = false;
  #wake: () => void = () => undefined;
  readonly #ring = () => {
    this.#isRung = true;
    this.#wake();
  };

  constructor(folder: string, stop: AbortSignal | undefined) {
    this.#watcher = watchFolder(folder, this.#ring);
    this.#stop = stop;
    stop?.addEventListener('abort', this.#ring);
  }

  reset(): void {
    this.#isRung = false;
  }

  async rung(): Promise<void> {
    if (this.#isRung) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    this.#watcher.close();
    this.#stop?.removeEventListener('abort', this.#ring);
  }
}

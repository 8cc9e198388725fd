import { AsyncLocalStorage } from 'node:async_hooks';
import { Worker } from 'node:worker_threads';
import { runnableProgram } from './runnable-program.ts';

export interface ThreadOptions {
  /** The module next to the caller that calls `serveThread`: `new URL('./planning-thread-main.ts', import.meta.url)`. */
  readonly program: URL;
  /** The result of a request in error messages: `the plan`. */
  readonly makes: string;
  /** Passed to the program when it starts. */
  readonly data?: unknown;
  /** Limit of the thread's heap; default: the process's limit. */
  readonly maxMegabytes?: number;
  /** Of these, how much for objects that were made just now; default: 48, half of the default of Node.js 24. Less is slower and keeps the process smaller. */
  readonly youngMegabytes?: number;
}

interface AskOptions<Piece> {
  /** Cancels the request; ends the thread if it works on it. */
  readonly signal?: AbortSignal;
  /**
   * Ends the thread if the request takes more processor time: neither its start, nor the time in the queue, nor the time that a
   * busy machine gives to others counts.
   */
  readonly workMs?: number;
  /** Gets what the program sends before its answer, piece by piece. If it rejects, so does the request. */
  readonly receive?: (piece: Piece) => Promise<void>;
}

/** Why there is no answer; `died`: the thread ended unexpectedly. */
type ThreadFailure = 'threw' | 'aborted' | 'late' | 'out-of-memory' | 'died' | 'closed';

type Asked<Answer> =
  | { readonly ok: true; readonly value: Answer }
  /** `error` is ready to throw; with `aborted`, it is the signal's reason. */
  | { readonly ok: false; readonly reason: ThreadFailure; readonly error: unknown };

/** Messages of a thread: once `ready`, then one answer per request, which may have sent pieces before. */
export type ThreadMessage<Answer, Piece> =
  | 'ready'
  | { readonly piece: Piece }
  | { readonly value: Answer }
  | { readonly thrown: ThrownError };

/** Messages to a thread: a request, and that a piece has been received. */
export type ThreadRequest<Request> = { readonly request: Request } | 'received';

export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
}

interface Waiting<Request, Answer, Piece> extends AskOptions<Piece> {
  /** Dropped when the thread has its copy. */
  request?: Request;
  readonly answer: (asked: Asked<Answer>) => void;
}

/** An unused thread ends after this time, to free its memory: a heap never shrinks to what it held. The next one starts in a few tenths of a second. */
const IDLE_MS = 10_000;

/** The least time between two looks at how much a thread has worked. */
const LOOK_MS = 10;

/**
 * A thread that answers requests in order, without blocking the process. It starts with the first request, and again if
 * it has ended for any reason: only the request it worked on is lost. Requests and answers are copied
 * (`structuredClone`).
 */
export class Thread<Request, Answer, Piece = never> {
  readonly #options: ThreadOptions;
  readonly #queue: Waiting<Request, Answer, Piece>[] = [];
  #running: Waiting<Request, Answer, Piece> | undefined;
  #worker: Worker | undefined;
  #ready = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Requests without an answer yet. */
  get waiting(): number {
    return this.#queue.length + (this.#running === undefined ? 0 : 1);
  }

  /** Never rejects. Keeps no request of which the thread has its copy. */
  ask(request: Request, options: AskOptions<Piece> = {}): Promise<Asked<Answer>> {
    const { signal } = options;
    if (signal?.aborted) return Promise.resolve(failed('aborted', signal.reason));
    if (this.#closed) return Promise.resolve(this.#failed('closed', 'was not started: this process is ending'));
    let answer!: (asked: Asked<Answer>) => void;
    const answered = new Promise<Asked<Answer>>((resolve) => {
      answer = resolve;
    });
    // Messages of the thread come in the context of whoever started it: an activity must prove its own claim.
    const receive = options.receive && { receive: AsyncLocalStorage.bind(options.receive) };
    const waiting: Waiting<Request, Answer, Piece> = { ...options, ...receive, request, answer };
    const abort = () => this.#cancel(waiting);
    signal?.addEventListener('abort', abort, { once: true });
    this.#queue.push(waiting);
    this.#next();
    return answered.finally(() => signal?.removeEventListener('abort', abort));
  }

  /** Ends the thread; all waiting requests fail with `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    const closed = this.#failed('closed', 'was not finished: this process is ending');
    const waiting = this.#queue.splice(0);
    this.#end(closed);
    for (const { answer } of waiting) answer(closed);
    await worker?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#running = this.#queue.shift();
    if (this.#running === undefined) {
      this.#worker?.unref();
      this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    try {
      const worker = this.#start();
      // Keep the process running while the thread works.
      worker.ref();
      worker.postMessage({ request: this.#running.request as Request } satisfies ThreadRequest<Request>);
      delete this.#running.request;
      if (this.#ready) this.#setDeadline();
    } catch (error) {
      this.#settle(failed('threw', error));
    }
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = startWorker(this.#options);
    this.#worker = worker;
    this.#ready = false;
    const died = (asked: Asked<Answer>) => {
      if (this.#worker === worker) this.#end(asked);
    };
    worker.on('message', (message: ThreadMessage<Answer, Piece>) => {
      if (this.#worker === worker) this.#receive(message);
    });
    worker.on('error', (error: NodeJS.ErrnoException) =>
      died(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? this.#failed('out-of-memory', `did not fit into ${this.#memory}`)
          : failed('died', error),
      ),
    );
    worker.on('exit', (code) => died(this.#failed('died', `was not finished: its thread ended with ${code}`)));
    return worker;
  }

  get #memory(): string {
    const { maxMegabytes } = this.#options;
    return maxMegabytes === undefined
      ? 'memory: give the process more (NODE_OPTIONS=--max-old-space-size=MEGABYTES)'
      : `${maxMegabytes} MB`;
  }

  #receive(message: ThreadMessage<Answer, Piece>): void {
    if (message === 'ready') {
      this.#ready = true;
      this.#setDeadline();
    } else if ('piece' in message) void this.#take(message.piece);
    else
      this.#settle(
        'value' in message
          ? { ok: true, value: message.value }
          : failed('threw', Object.assign(new Error(), message.thrown)),
      );
  }

  async #take(piece: Piece): Promise<void> {
    const [worker, running] = [this.#worker, this.#running];
    const isCurrent = (): boolean => this.#worker === worker && this.#running === running;
    try {
      await running?.receive?.(piece);
      if (isCurrent()) worker?.postMessage('received' satisfies ThreadRequest<Request>);
    } catch (error) {
      if (isCurrent()) this.#end(failed('threw', error));
    }
  }

  #setDeadline(): void {
    const [worker, running] = [this.#worker, this.#running];
    const workMs = running?.workMs;
    if (worker === undefined || workMs === undefined) return;
    const usedBefore = worker.cpuUsage();
    const look = async (): Promise<void> => {
      const { user, system } = await worker.cpuUsage(await usedBefore);
      if (this.#worker !== worker || this.#running !== running) return;
      const left = workMs - (user + system) / 1000;
      if (left <= 0) this.#end(this.#failed('late', `was not finished within ${workMs} ms of processor time`));
      else lookIn(left);
    };
    // A thread works no faster than the clock. One that has ended meanwhile says so itself.
    const lookIn = (ms: number): void => {
      this.#timer = setTimeout(() => void look().catch(() => undefined), Math.max(ms, LOOK_MS));
    };
    lookIn(workMs);
  }

  #settle(asked: Asked<Answer>): void {
    const running = this.#running;
    this.#running = undefined;
    running?.answer(asked);
    this.#next();
  }

  #cancel(waiting: Waiting<Request, Answer, Piece>): void {
    const aborted = failed('aborted', waiting.signal?.reason);
    const at = this.#queue.indexOf(waiting);
    if (at >= 0) this.#queue.splice(at, 1);
    if (this.#running === waiting) this.#end(aborted);
    else waiting.answer(aborted);
  }

  /** Ends the thread. The running request gets this answer; waiting requests get the next thread. */
  #end(asked?: Asked<Answer>): void {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    if (asked !== undefined && this.#running !== undefined) this.#settle(asked);
  }

  #failed(reason: ThreadFailure, how: string): Asked<never> {
    return failed(reason, new Error(`${this.#options.makes} ${how}`));
  }
}

const failed = (reason: ThreadFailure, error: unknown): Asked<never> => ({ ok: false, reason, error });

/** The answer, for callers that treat every failure as an error. */
export function answerOf<Answer>(asked: Asked<Answer>): Answer {
  if (asked.ok) return asked.value;
  throw asked.error;
}

function startWorker({ program, data, maxMegabytes, youngMegabytes = 48 }: ThreadOptions): Worker {
  return new Worker(runnableProgram(program), {
    workerData: data,
    // A program of ours needs no options of Node.js, and cannot start with those of `node --eval`.
    execArgv: [],
    resourceLimits: {
      ...(maxMegabytes === undefined ? {} : { maxOldGenerationSizeMb: maxMegabytes }),
      maxYoungGenerationSizeMb: youngMegabytes,
    },
  });
}

import { Worker } from 'node:worker_threads';
import type { PlanForm, Planner, PlanningAnswer, PlanningWork } from './planning-work.js';

export interface ThreadData {
  /** Path of the module of helper functions. */
  readonly helpers?: string;
}

export interface ThreadRequest {
  readonly form: PlanForm;
  readonly work: PlanningWork;
}

export type ThreadAnswer = { readonly answer: PlanningAnswer<PlanForm> } | { readonly error: ToldError };

export type ToldError = Pick<Error, 'name' | 'message' | 'stack'>;

interface Waiting extends ThreadRequest {
  readonly signal?: AbortSignal;
  readonly resolve: (answer: PlanningAnswer<PlanForm>) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that nobody needs gives its memory back after so long. */
const IDLE_MS = 60_000;

/**
 * A thread that makes plans one after the other, so that heartbeats, requests and answers of this process go on
 * meanwhile. It starts with the first plan and again after an abort, which ends it: planning never looks up.
 */
export class PlanningThread implements Planner {
  readonly #data: ThreadData;
  readonly #waiting: Waiting[] = [];
  #running: Waiting | undefined;
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(data: ThreadData = {}) {
    this.#data = data;
  }

  async plan<Form extends PlanForm>(
    form: Form,
    work: PlanningWork,
    signal?: AbortSignal,
  ): Promise<PlanningAnswer<Form>> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error('this process is ending: it makes no more plans');
    let abort: () => void = () => undefined;
    try {
      const answer = await new Promise<PlanningAnswer<PlanForm>>((resolve, reject) => {
        const waiting: Waiting = { form, work, resolve, reject, ...(signal === undefined ? {} : { signal }) };
        abort = () => this.#abort(waiting);
        signal?.addEventListener('abort', abort, { once: true });
        this.#waiting.push(waiting);
        this.#next();
      });
      return answer as PlanningAnswer<Form>;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Ends the thread; what is planned or waits is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const thread = this.#thread;
    const open = this.#waiting.splice(0);
    this.#end(new Error('the process ended while this was planned'));
    for (const { reject } of open) reject(new Error('the process ended before this was planned'));
    await thread?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    clearTimeout(this.#idle);
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    this.#running = next;
    try {
      const thread = this.#start();
      // While it works, it is what the process lives for.
      thread.ref();
      thread.postMessage({ form: next.form, work: next.work } satisfies ThreadRequest);
    } catch (error) {
      this.#settle(({ reject }) => reject(error));
    }
  }

  #start(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = startThread(this.#data);
    this.#thread = thread;
    const ofThis = (act: () => void) => () => {
      if (this.#thread === thread) act();
    };
    thread.on('message', (message: ThreadAnswer) =>
      ofThis(() =>
        this.#settle(({ resolve, reject }) => ('answer' in message ? resolve(message.answer) : reject(message.error))),
      )(),
    );
    thread.on('error', (error: unknown) => ofThis(() => this.#end(deathOf(error)))());
    thread.on('exit', (code) => ofThis(() => this.#end(new Error(`the planning thread ended with ${code}`)))());
    return thread;
  }

  #settle(settle: (waiting: Waiting) => void): void {
    const running = this.#running;
    this.#running = undefined;
    this.#thread?.unref();
    if (running !== undefined) settle(running);
    this.#next();
  }

  #abort(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at >= 0) this.#waiting.splice(at, 1);
    waiting.reject(waiting.signal!.reason);
    if (this.#running === waiting) this.#end();
  }

  /** Lets go of the thread; whoever waits for it gets the error, the others get the next one. */
  #end(error?: Error): void {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
    const running = this.#running;
    this.#running = undefined;
    if (error !== undefined) running?.reject(error);
    if (this.#waiting.length > 0) this.#next();
  }
}

function deathOf(error: unknown): Error {
  if ((error as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message =
      'the plan did not fit into memory: give the process more (NODE_OPTIONS=--max-old-space-size=MEGABYTES)';
    return new Error(message, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** The thread's program lies beside this file: built, or as source under tsx, which threads do not inherit. */
function startThread(data: ThreadData): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const program = new URL(isSource ? './planning-thread-main.ts' : './planning-thread-main.js', import.meta.url);
  if (!isSource) return new Worker(program, { workerData: data });
  const load = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(program.href)})))`;
  return new Worker(load, { eval: true, execArgv: [], workerData: data });
}

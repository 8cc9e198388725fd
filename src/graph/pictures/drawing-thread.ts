import { Worker } from 'node:worker_threads';

export interface DrawingRequest {
  readonly id: number;
  readonly dot: string;
}

export type DrawingAnswer =
  | { readonly id: number; readonly svg: string }
  | { readonly id: number; readonly refused: string };

interface Waiting {
  resolve(svg: string): void;
  reject(error: Error): void;
}

/** A thread that nobody needs gives its memory back after so long: Graphviz keeps what its largest picture took. */
const IDLE_MS = 60_000;

/**
 * Draws in a thread of its own, one picture after the other, so that a graph of a real release (two seconds of layout)
 * keeps no request of this process waiting. The thread starts with the first picture, and again after it died.
 */
export class DrawingThread {
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = 0;
  #closed = false;

  /**
   * One SVG element, as `renderSvg` makes it.
   * @throws Error with Graphviz' words when the text is no DOT, or with why the thread ended
   */
  svg(dot: string): Promise<string> {
    if (this.#closed) return Promise.reject(new Error('this process is ending: it draws no more'));
    clearTimeout(this.#idle);
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const thread = this.#start();
      this.#waiting.set(id, { resolve, reject });
      // While it draws, it is what the process lives for.
      thread.ref();
      thread.postMessage({ id, dot } satisfies DrawingRequest);
    });
  }

  /** Ends the thread; what is not drawn yet is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const thread = this.#thread;
    this.#end(new Error('the process ended before this was drawn'));
    await thread?.terminate();
  }

  #start(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = startThread();
    this.#thread = thread;
    const died = (error: Error) => {
      if (this.#thread === thread) this.#end(error);
    };
    thread.on('message', (answer: DrawingAnswer) => this.#settle(answer));
    thread.on('error', (error: unknown) => died(error instanceof Error ? error : new Error(String(error))));
    thread.on('exit', (code) => died(new Error(`the drawing thread ended with ${code}`)));
    return thread;
  }

  #settle(answer: DrawingAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('svg' in answer) waiting?.resolve(answer.svg);
    else waiting?.reject(new Error(answer.refused));
    if (this.#waiting.size > 0) return;
    this.#thread?.unref();
    this.#idle = setTimeout(() => this.#end(new Error('the drawing thread was idle')), IDLE_MS).unref();
  }

  #end(error: Error): void {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    void thread?.terminate();
    for (const { reject } of waiting) reject(error);
  }
}

/** The thread's program lies beside this file: built, or as source under tsx, which threads do not inherit. */
function startThread(): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const program = new URL(isSource ? './drawing-thread-main.ts' : './drawing-thread-main.js', import.meta.url);
  if (!isSource) return new Worker(program);
  const load = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(program.href)})))`;
  return new Worker(load, { eval: true, execArgv: [] });
}

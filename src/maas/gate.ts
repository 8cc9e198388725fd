/**
 * Lets so many callers in at a time, the others in order of arrival. MAAS is served well by a few
 * requests at once; with hundreds of machines the rest waits here, where neither its time limit runs
 * nor its signature ages.
 */
export class Gate {
  readonly #limit: number;
  #inside = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Runs `work` when there is room. Rejects with the signal's reason when that is aborted while waiting. */
  async pass<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#inside < this.#limit) this.#inside++;
    else await this.#wait(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      // The place is handed over, not given up: a newcomer must not overtake.
      if (next) next();
      else this.#inside--;
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        this.#waiting.delete(enter);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.delete(enter);
        reject(signal?.reason as Error);
      };
      this.#waiting.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}

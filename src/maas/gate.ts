/**
 * Limits concurrent callers; the others wait in order of arrival. MAAS handles a few
 * requests at once well; with hundreds of machines the rest waits here, where neither its timeout runs
 * nor its signature expires.
 */
export class Gate {
  readonly #limit: number;
  #inside = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Runs `work` when there is capacity. Rejects with the signal's reason when it is aborted while waiting. */
  async pass<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#inside < this.#limit) this.#inside++;
    else await this.#wait(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      // The slot passes to the next caller in the queue: a new caller must not overtake.
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

interface Pass {
  readonly signal?: AbortSignal | undefined;
  /** Goes before all who wait and are not urgent. */
  readonly urgent?: boolean | undefined;
}

/**
 * Limits concurrent callers; the others wait in order of arrival, urgent ones before the rest. MAAS handles a few
 * concurrent requests well; with hundreds of machines the rest waits here, where neither its timeout runs
 * nor its signature expires.
 */
export class Gate {
  readonly #limit: number;
  #inside = 0;
  readonly #urgent = new Set<() => void>();
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  /** Runs `work` when there is capacity. Rejects with the signal's reason when it is aborted while waiting. */
  async pass<T>(work: () => Promise<T>, { signal, urgent = false }: Pass = {}): Promise<T> {
    signal?.throwIfAborted();
    if (this.#inside < this.#limit) this.#inside++;
    else await this.#wait(urgent ? this.#urgent : this.#waiting, signal);
    try {
      return await work();
    } finally {
      const [urgent] = this.#urgent;
      const [waiting] = this.#waiting;
      const next = urgent ?? waiting;
      // The slot passes to the next caller in the queue: a new caller must not overtake.
      if (next) next();
      else this.#inside--;
    }
  }

  #wait(queue: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        queue.delete(enter);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.delete(enter);
        reject(signal?.reason as Error);
      };
      queue.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}

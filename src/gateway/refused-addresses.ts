const WINDOW_MS = 60_000;
/** Of one address within the window. A node that starts has one token and one key: it is hardly ever refused. */
const MAX = 20;
/** How many addresses are kept in mind; the longest known are forgotten. */
const MAX_ADDRESSES = 20_000;

/** Counts refusals by address, so that anyone who tries tokens has to wait. */
export class RefusedAddresses {
  readonly #counts = new Map<string, { readonly until: number; count: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Seconds until the address may try again; undefined: now. */
  mustWait(address: string): number | undefined {
    const entry = this.#counts.get(address);
    if (entry === undefined || entry.count < MAX || this.#isOver(entry.until)) return undefined;
    return Math.ceil((entry.until - this.#now()) / 1000);
  }

  add(address: string): void {
    const entry = this.#counts.get(address);
    if (entry !== undefined && !this.#isOver(entry.until)) {
      entry.count += 1;
      return;
    }
    this.#counts.delete(address);
    this.#counts.set(address, { until: this.#now() + WINDOW_MS, count: 1 });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_ADDRESSES && oldest !== undefined) this.#counts.delete(oldest);
  }

  /** Also when the clock was set back. */
  #isOver(until: number): boolean {
    const left = until - this.#now();
    return left <= 0 || left > WINDOW_MS;
  }
}

import type { Clock } from '../../src/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * A clock that never waits: as soon as nothing else can run, time leaps to the earliest sleeper. So a
 * test of hours of polling takes milliseconds, and the order of events is that of the real times.
 */
export class LeapingClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];
  #pumping = false;
  readonly #random: () => number;

  constructor(start = Date.UTC(2026, 10, 21, 12), random: () => number = () => 0.5) {
    this.#now = start;
    this.#random = random;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#random();
  }

  /** Moves time on without waking sleepers before their time. */
  leap(ms: number): void {
    this.#now += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason as Error);
      };
      const sleeper: Sleeper = {
        at: this.#now + Math.max(0, ms),
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.push(sleeper);
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      const next = this.#sleepers.reduce<Sleeper | undefined>(
        (a, b) => (a === undefined || b.at < a.at ? b : a),
        undefined,
      );
      if (!next) return;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      if (this.#sleepers.length > 0) this.#pump();
    });
  }
}

/** The simulator's time; tests replace it and advance it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `work` once after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, work: () => void): () => void;
}

/** The longest delay of Node's timers. */
const longestTimer = 2 ** 31 - 1;

/** The system clock. */
export const timerClock: Clock = {
  now: () => Date.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, Math.min(Math.max(ms, 0), longestTimer));
    return () => clearTimeout(timer);
  },
};

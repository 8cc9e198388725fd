/** Time as the simulator sees it; a test puts its own in and moves it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `work` once after `ms` milliseconds; the function it gives back cancels that. */
  after(ms: number, work: () => void): () => void;
}

/** The longest delay that Node's timers can hold. */
const longestTimer = 2 ** 31 - 1;

/** The machine's own clock. */
export const timerClock: Clock = {
  now: () => Date.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, Math.min(Math.max(ms, 0), longestTimer));
    return () => clearTimeout(timer);
  },
};

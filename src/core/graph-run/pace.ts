/** So many turns within so long, and another is as good as certain to come soon. */
const TURNS = 10;
const WITHIN_MS = 5_000;

/**
 * How quickly the turns of a part follow each other. While they do quickly, whatever is due is done in one of them, so
 * that a timer for it, which costs a workflow task, need not ring as soon: `slack` says how much later it may.
 */
export interface Pace {
  /** To be called with the time (ms) of each turn. */
  turned(now: number): void;
  /** Milliseconds; 0 when nothing says that another turn will come. */
  slack(now: number): number;
}

/** @param most slack of a busy part, in seconds */
export function createPace(most = 0): Pace {
  /** Times of the last turns; the oldest is the next to be written over. */
  const times = new Array<number>(TURNS).fill(Number.NEGATIVE_INFINITY);
  let oldest = 0;
  return {
    turned(now) {
      times[oldest] = now;
      oldest = (oldest + 1) % TURNS;
    },
    slack: (now) => (now - times[oldest]! < WITHIN_MS ? most * 1000 : 0),
  };
}

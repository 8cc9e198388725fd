/** After this many turns within this time, another turn will most likely follow soon. */
const TURNS = 10;
const WITHIN_MS = 5_000;

/**
 * Measures how quickly the turns of a part follow each other. While turns are frequent, one of them does whatever is
 * due. A timer costs a workflow task, so it may then ring later: by `slack`.
 */
interface Pace {
  /** Call it with the time (ms) of each turn. */
  turned(now: number): void;
  /** Milliseconds; 0 when turns are not frequent. */
  slack(now: number): number;
}

/** @param most the slack of a busy part, in seconds */
export function createPace(most: number): Pace {
  /** Times of the last turns, as a ring buffer. */
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

/** Least time (ms) between two reports of a part, and between two records of its rows. */
const EVERY_MS = 5_000;

/** Longer, people would take a large run for stuck. */
const LONGEST_MS = 15_000;

/** Parts share a coordinator, a store and a server: with more parts, each reports and records less often. */
export const intervalOfParts = (parts: number): number => Math.min(LONGEST_MS, Math.max(EVERY_MS, parts * 1_000));

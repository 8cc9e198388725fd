/** Callers of a start wait for a worker to take the run; it does in milliseconds. */
export const ACCEPT_MS = 2_000;
/** Then they wait for its answer: opening reads the store, and waits for it while it is unreachable. */
export const OPEN_MS = 20_000;

/** Until then the run may count on its caller: clocks and messages take a part of those times. */
export const SURELY_WAITS_MS = { accept: ACCEPT_MS - 1_000, open: OPEN_MS - 2_000 } as const;

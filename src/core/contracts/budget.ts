/** Limits of one caller for one kind of work: concurrent requests, and duration of each. */
export interface Budget {
  readonly atOnce: number;
  /** From when the request has arrived until it is answered; absent: it ends with its caller or their token. */
  readonly seconds?: number;
}

/**
 * By kind of work. A route names its kind next to its `access`; requests of a token, or of an address without one, count
 * together for all routes of a kind, so that no one delays others.
 */
export const BUDGETS = {
  /** Looks something up, or starts or changes something. */
  light: { atOnce: 32, seconds: 120 },
  /** Plans a graph, in a thread that all share. */
  planning: { atOnce: 4, seconds: 120 },
  /** Lives through a run in virtual time, in a thread that all share, which gives way: 30,000 tasks take a minute and a half of processor. */
  rehearsing: { atOnce: 1, seconds: 900 },
  /** Reads user input in threads that all share: documents, graphs. */
  reading: { atOnce: 4, seconds: 60 },
  /** Lays out a graph. */
  drawing: { atOnce: 4, seconds: 60 },
  /** A stream of events. */
  watching: { atOnce: 50 },
  /** An archive, up or down; so many of all callers together, by a setting. */
  transfer: { atOnce: 8 },
} as const satisfies Readonly<Record<string, Budget>>;

export type BudgetName = keyof typeof BUDGETS;

/** Bodies under way, in bytes: of one caller, and of all. A body is in memory until its request is answered. */
export const BODIES_UNDER_WAY = { ofCaller: 48 * 1024 * 1024, ofAll: 128 * 1024 * 1024 } as const;

/** Bodies up to this size are bounded by how many requests there may be. */
export const SMALL_BODY = 64 * 1024;

/** After how long a turn of a handler ends by itself: so many handlers begin in a second when all wait for something. */
export const TURN_MS = 4;

/** Refusals of one caller: so many without a pause, then so many a second, and so many that wait for their answer. */
export const REFUSALS = { atOnce: 300, perSecond: 10, waiting: 32 } as const;

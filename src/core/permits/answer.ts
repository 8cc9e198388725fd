/** `turn`: it may be touched, but another run comes first. */
export const PERMIT_WAITS = ['out_of_service', 'at_once', 'window', 'freeze', 'turn'] as const;

/** What machines of a run wait for. */
export interface PermitWait {
  readonly kind: (typeof PERMIT_WAITS)[number];
  /** The limit, in words. */
  readonly limit: string;
  /** How many machines wait for it. */
  readonly machines: number;
  /** Who has what they wait for: machines and runs, the first of them. */
  readonly behind: readonly string[];
  /** ISO 8601: since when the run waits. */
  readonly since: string;
  /** ISO 8601: when it is over, where that is known. */
  readonly until?: string;
}

/** Nodes whose permits a run needs no more, by what has become of them. */
export interface ReturnedPermits {
  readonly done: readonly number[];
  readonly failed: readonly number[];
  /** Nothing has touched them, or they wait for others. */
  readonly unused: readonly number[];
}

export interface PermitAnswer {
  /** Names of machines. */
  readonly granted: readonly string[];
  readonly waits: readonly PermitWait[];
}

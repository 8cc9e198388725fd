/** The facts of an ended run that predict the duration of similar ones. */
export interface EarlierRun {
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Nodes or tasks; null where that is not known. */
  readonly total: number | null;
}

/** Wire form of `expectedEnd`. */
interface ExpectedEnd {
  readonly ends_at: string;
  readonly earlier_runs: number;
}

/**
 * When a run should end: its start plus the median duration of earlier runs of about its size, half to twice as many
 * nodes or tasks. Undefined without any.
 */
export function expectedEnd(
  run: { readonly startedAt: string; readonly total: number },
  earlier: readonly EarlierRun[],
): ExpectedEnd | undefined {
  const durations = earlier
    .filter(({ total }) => !run.total || !total || (total >= run.total / 2 && total <= run.total * 2))
    .flatMap(({ startedAt, endedAt }) => (endedAt === null ? [] : [Date.parse(endedAt) - Date.parse(startedAt)]))
    .sort((a, b) => a - b);
  const middle = durations[Math.floor(durations.length / 2)];
  if (middle === undefined) return undefined;
  return { ends_at: new Date(Date.parse(run.startedAt) + middle).toISOString(), earlier_runs: durations.length };
}

/** The end of a run that should take so many seconds, as no earlier run tells; sooner where it is done faster. */
export function endOfFirst(
  { startedAt, done, total }: { readonly startedAt: string; readonly done: number; readonly total: number },
  seconds: number | null | undefined,
  now: number,
): ExpectedEnd | undefined {
  if (seconds == null || done >= total) return undefined;
  const assumed = seconds * 1000;
  const end = Math.min(Date.parse(startedAt) + assumed, now + (assumed * (total - done)) / total);
  return { ends_at: new Date(end).toISOString(), earlier_runs: 0 };
}

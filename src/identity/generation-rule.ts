/** What the history of a run knows of one task on one node. */
export interface AttemptRecord {
  /** From 1. */
  readonly generation: number;
  readonly state: 'running' | 'successful' | 'unsuccessful';
}

/**
 * Whether a generation of a task may be ordered: the first one always; a later one only when the one before is known
 * to have ended without success, or when a retry of it was recorded. Otherwise whoever can write to a task queue
 * could have a task run again by counting up. Answers why not; undefined when it may.
 */
export function generationProblem(generation: number, attempts: readonly AttemptRecord[]): string | undefined {
  if (generation === 1) return undefined;
  // That a later one was recorded is the record of a decision to retry.
  if (attempts.some((attempt) => attempt.generation >= generation)) return undefined;
  const before = attempts.find((attempt) => attempt.generation === generation - 1);
  if (before?.state === 'unsuccessful') return undefined;
  const known = before === undefined ? 'is not known to the run' : `is ${before.state}`;
  return `attempt ${generation - 1} ${known}, so there is nothing to retry`;
}

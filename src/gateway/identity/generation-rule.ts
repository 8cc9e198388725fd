/** The newest attempt of one task on one node that the history of its run knows. */
export interface LatestAttempt {
  /** 0 before the first. */
  readonly generation: number;
  /** `retry`: it is over and a further one was decided on. */
  readonly state: 'open' | 'retry' | 'unsuccessful' | 'successful';
}

export type GenerationVerdict =
  | { readonly kind: 'may-run' }
  /** The history may be a moment behind the workflow that writes it: asking again is right. */
  | { readonly kind: 'not-yet'; readonly message: string }
  | { readonly kind: 'never'; readonly message: string };

/**
 * Whether a generation of a task may be ordered: the first one; a later one only when the one before is known to have
 * ended without success, or a retry of it is recorded. Otherwise whoever can write to a task queue could have a task
 * run again by counting up. One that has succeeded, or was followed by another, is over: a node that has done it
 * knows its own result, and one that was installed anew shall not do it again.
 */
export function judgeGeneration(generation: number, latest: LatestAttempt): GenerationVerdict {
  if (latest.generation > generation || (latest.generation === generation && latest.state === 'successful'))
    return { kind: 'never', message: `attempt ${generation} of the task is over` };
  if (generation === 1 || latest.generation === generation) return { kind: 'may-run' };
  const message = `attempt ${latest.generation} of the task is ${latest.state}, so there is no attempt ${generation} of it`;
  if (latest.generation < generation - 1)
    return { kind: latest.generation === generation - 2 ? 'not-yet' : 'never', message };
  switch (latest.state) {
    case 'retry':
    case 'unsuccessful':
      return { kind: 'may-run' };
    case 'open':
      return { kind: 'not-yet', message };
    case 'successful':
      return { kind: 'never', message };
  }
}

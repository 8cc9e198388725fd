/** The newest attempt of a task on a node in its run's history. */
interface LatestAttempt {
  /** 0 before the first attempt. */
  readonly generation: number;
  /** `retry`: it has ended and a retry is scheduled. */
  readonly state: 'open' | 'retry' | 'failed' | 'success';
}

type GenerationVerdict =
  | { readonly kind: 'may-run' }
  /** The history may lag behind the workflow that writes it: try again. */
  | { readonly kind: 'not-yet'; readonly message: string }
  | { readonly kind: 'never'; readonly message: string };

/**
 * Whether a generation of a task may be ordered: the first one, or a later one if the one before ended without success
 * or has a recorded retry. Otherwise anyone with access to a task queue could repeat a task by counting up. A
 * generation that succeeded or has a successor is over: a node that ran it knows the result, and a reinstalled node
 * must not run it again.
 */
export function judgeGeneration(generation: number, latest: LatestAttempt): GenerationVerdict {
  if (latest.generation > generation || (latest.generation === generation && latest.state === 'success'))
    return { kind: 'never', message: `attempt ${generation} of the task is over` };
  if (generation === 1 || latest.generation === generation) return { kind: 'may-run' };
  const message = `attempt ${latest.generation} of the task is ${latest.state}, so it has no attempt ${generation}`;
  if (latest.generation < generation - 1)
    return { kind: latest.generation === generation - 2 ? 'not-yet' : 'never', message };
  switch (latest.state) {
    case 'retry':
    case 'failed':
      return { kind: 'may-run' };
    case 'open':
      return { kind: 'not-yet', message };
    case 'success':
      return { kind: 'never', message };
  }
}

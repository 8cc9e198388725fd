/** Which builds of the workers new runs go to, and which builds may take over from others. Pure. */

/** A build of the workers of one task queue. */
export interface WorkerBuild {
  /** Null: workers without a version. */
  readonly version: string | null;
  /** Milliseconds since 1970; 0 for workers without a version. */
  readonly createdAt: number;
  /** Whether new runs have ever gone to it. */
  readonly wasCurrent: boolean;
  /** Whether a worker of it polls. */
  readonly isServed: boolean;
}

interface Steps {
  /** New runs go to this build from now on. */
  readonly takeOver: boolean;
  /** Builds without workers whose runs go on with this one. */
  readonly adopt: readonly string[];
  /** Later builds without workers: their runs wait for a worker of theirs, or for an operator. */
  readonly waiting: readonly string[];
}

/**
 * Actions of a worker so that no run waits for a build without workers:
 * - A build takes over new runs at its first start (unless `manual`), and from a build without workers. An operator who goes
 *   back to an earlier build is not overruled by a restart of a later one.
 * - The current build takes over open runs of earlier builds without workers: later builds replay the histories of earlier
 *   ones. The reverse is not promised, so runs of later builds wait.
 *
 * @param current the build that new runs go to; null: workers without a version
 */
export function stepsOf(
  own: WorkerBuild,
  current: string | null,
  others: readonly WorkerBuild[],
  manual = false,
): Steps {
  const isServed = others.some(({ version, isServed }) => version === current && isServed);
  const isNew = own.version !== null && !own.wasCurrent && !manual;
  const takeOver = current !== own.version && (isNew || !isServed);
  if (current !== own.version && !takeOver) return { takeOver, adopt: [], waiting: [] };
  const left = others.flatMap((one) =>
    one.version === null || one.isServed || one.version === own.version ? [] : [{ ...one, version: one.version }],
  );
  const isEarlier = ({ createdAt }: { readonly createdAt: number }): boolean =>
    own.version === null || createdAt < own.createdAt;
  return {
    takeOver,
    adopt: left.filter(isEarlier).map(({ version }) => version),
    waiting: left.filter((one) => !isEarlier(one)).map(({ version }) => version),
  };
}

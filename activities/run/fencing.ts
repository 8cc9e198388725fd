import { ApplicationFailure, Context } from '@temporalio/activity';
import type { RunSubject } from '../../src/core/run/subject.ts';
import { claimOfRun, type Execution, type Fence } from '../../src/runs/claims.ts';
import type { Claim } from '../../src/store/index.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { held, RUN_STOPPED } from './holds.ts';

/** Checks before a change. */
export type Gate = Fence & Pick<ActivityDependencies, 'hold'>;

/** The execution that this activity belongs to. */
export const ownExecution = (): Execution => Context.current().info.workflowExecution!;

/**
 * How long a proof allows changes of machines. Shorter than the time after which a server gives up a try that sends no heartbeats: one that
 * was held up between its proof and its request cannot reach MAAS beside the try in its place, nor once its run has ended.
 */
const PROOF_LASTS_MS = 10_000;

/** When tries of activities last began to prove their claim. */
const PROVEN = new WeakMap<Context, number>();

/** Until when this try of an activity may send a change to MAAS, ms since 1970; undefined outside of activities. */
export function mayChangeUntil(): number | undefined {
  let context: Context;
  try {
    context = Context.current();
  } catch {
    return undefined;
  }
  return (PROVEN.get(context) ?? Number.NEGATIVE_INFINITY) + PROOF_LASTS_MS;
}

/**
 * As `provenClaim` for this activity. To be asked right before anything is changed: the client of MAAS refuses changes whose proof is old
 * (`mayChangeUntil`).
 *
 * @param run the run that the request names, by the run id of its first execution: it must be the one that has the claim
 * @returns the claim's generation
 * @throws ApplicationFailure of type `ClaimLost`, which ends the run
 */
export const proveClaim = async (fence: Fence, subject: RunSubject, run?: string): Promise<number> =>
  (await provenNow(fence, subject, run)).generation;

async function provenNow(fence: Fence, subject: RunSubject, run: string | undefined): Promise<Claim> {
  const context = Context.current();
  const askedAt = Date.now();
  const claim = await claimOfRun(fence, subject, run, ownExecution());
  PROVEN.set(context, askedAt);
  return claim;
}

/**
 * As `proveClaim`, and fails, to be retried, while the run is paused; for good when it is being stopped. To be asked right
 * before the first change that a try of an activity makes: it may have been scheduled, or tried before, long ago.
 */
export async function assertMayStart(gate: Gate, subject: RunSubject, run?: string): Promise<void> {
  const { workflowId, executionId } = await provenNow(gate, subject, run);
  const { paused, stopping } = await gate.hold(workflowId, executionId).catch((error: unknown) => {
    throw held(`cannot tell whether the run is paused (${error instanceof Error ? error.message : String(error)})`);
  });
  if (stopping)
    throw ApplicationFailure.nonRetryable('the run is being stopped: this step changes nothing any more', RUN_STOPPED);
  if (paused !== null) throw held(`the run is paused since ${paused.since}`);
  // A run that is busy answers late.
  await provenNow(gate, subject, run);
}

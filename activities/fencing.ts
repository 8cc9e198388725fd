import { ApplicationFailure, Context } from '@temporalio/activity';
import { CLAIM_LOST } from '../src/core/run/index.ts';
import { type RunSubject, subjectText } from '../src/core/run/subject.ts';
import { claimFor, type IsOpen, reopenRun } from '../src/runs/gone-holders.ts';
import {
  CLOSING,
  type Claim,
  type ClaimHolder,
  type RunWrite,
  type StorePorts,
  unlessNotFound,
} from '../src/store/index.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { held, RUN_STOPPED } from './run-holds.ts';

export type Fence = Pick<ActivityDependencies, 'store' | 'execution'>;
/** Checks before a change. */
export type Gate = Fence & Pick<ActivityDependencies, 'hold'>;
type Execution = Required<Context['info']>['workflowExecution'];

const own = (): Execution => Context.current().info.workflowExecution!;

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

export const isOpenBy =
  ({ execution }: Pick<Fence, 'execution'>): IsOpen =>
  async (workflowId, runId) =>
    (await execution(workflowId, runId))?.isOpen ?? false;

/**
 * Proves that the execution which this activity belongs to has the subject now: it has the claim itself, or it is a child
 * of the run that has it, or a reset put it in the place of the execution that had it. The claim is taken over then.
 * To be asked right before anything is changed: the client of MAAS refuses changes whose proof is old (`mayChangeUntil`).
 *
 * @param run the run that the request names, by the run id of its first execution: it must be the one that has the claim
 * @returns the claim's generation
 * @throws ApplicationFailure of type `ClaimLost`, which ends the run
 */
export const proveClaim = async (fence: Fence, subject: RunSubject, run?: string): Promise<number> =>
  (await claimOfRun(fence, subject, run)).generation;

async function claimOfRun(fence: Fence, subject: RunSubject, run: string | undefined): Promise<Claim> {
  const context = Context.current();
  const askedAt = Date.now();
  const claim = await provenClaim(fence, subject);
  if (run !== undefined && claim.runId !== run)
    throw lost(subject, `${claim.workflowId} (run ${claim.runId}) holds it, not run ${run}`);
  PROVEN.set(context, askedAt);
  return claim;
}

/**
 * As `proveClaim`, and fails, to be retried, while the run is paused; for good when it is being stopped. To be asked right
 * before the first change that a try of an activity makes: it may have been scheduled, or tried before, long ago.
 */
export async function assertMayStart(gate: Gate, subject: RunSubject, run?: string): Promise<void> {
  const { workflowId, executionId } = await claimOfRun(gate, subject, run);
  const { paused, stopping } = await gate.hold(workflowId, executionId).catch((error: unknown) => {
    throw held(`cannot tell whether the run is paused (${error instanceof Error ? error.message : String(error)})`);
  });
  if (stopping)
    throw ApplicationFailure.nonRetryable('the run is being stopped: this step changes nothing any more', RUN_STOPPED);
  if (paused !== null) throw held(`the run is paused since ${paused.since}`);
  // A run that is busy answers late.
  await claimOfRun(gate, subject, run);
}

/**
 * As `proveClaim`.
 *
 * @param me the execution to prove it for; default: the activity's
 */
export async function provenClaim(fence: Fence, subject: RunSubject, me: Execution = own()): Promise<Claim> {
  for (;;) {
    const claim = await fence.store.claims.holder(subject);
    if (claim === null) throw lost(subject, 'no run holds it');
    if (claim.workflowId === me.workflowId && claim.executionId === me.runId) return claim;
    const execution = await executionFor(fence, me, claim);
    if (execution === null) throw lost(subject, `${claim.workflowId} (run ${claim.runId}) holds it`);
    if (execution === claim.executionId) return claim;
    const { workflowId, runId } = claim;
    const mine = { workflowId, runId, executionId: execution };
    // Together: whoever has taken it over later does not open the run again.
    await fence.store.atomically(async (within) => {
      const taken = await within.claims.takeOver(subject, claim, mine);
      if (taken.claimed) await goOn(within, claim, execution);
    });
  }
}

/** Claims a subject for the run that opens, after `assertOwn`. Null once that has it, else the run that has it. @throws as `proveClaim` */
export async function openClaim(fence: Fence, subject: RunSubject, run: ClaimHolder): Promise<ClaimHolder | null> {
  const claim = await fence.store.claims.holder(subject);
  if (claim?.workflowId === run.workflowId && claim.runId === run.runId) {
    await proveClaim(fence, subject);
    return null;
  }
  const other = await claimFor(fence.store, isOpenBy(fence), subject, { ...run, executionId: own().runId });
  if (other === 'closed') throw closedBefore(subject, run);
  // Another execution of the same run was faster.
  return other?.runId === run.runId ? openClaim(fence, subject, run) : other;
}

/**
 * As `proveClaim`, for closing a run; null when an earlier try has closed it, which released the claim. An execution that a reset has
 * put in the place of the one that closed it has another end, and its run is over.
 */
export async function closeClaim(
  fence: Fence,
  subject: RunSubject,
  run: ClaimHolder,
  endedAt: string,
): Promise<number | null> {
  const known = await knownRun(fence, subject, run, fence.store.runs.get(run.runId));
  if (known.sequence < CLOSING) return proveClaim(fence, subject, run.runId);
  await assertOwn(fence, subject, run);
  if (known.endedAt !== endedAt) throw closedBefore(subject, run);
  return null;
}

/**
 * What the store has of a run that closes. One that it has no record of gives its claim back: the store was brought back to a copy from the
 * moment in which the run opened, and nothing else of the run is left to close.
 *
 * @throws as `proveClaim`
 */
export async function knownRun<T>(fence: Fence, subject: RunSubject, run: ClaimHolder, record: Promise<T>): Promise<T> {
  try {
    return await record;
  } catch (error) {
    unlessNotFound(error);
    await assertOwn(fence, subject, run);
    await fence.store.claims.release(subject, run);
    throw lost(subject, `the store has no record of run ${run.runId}: it was restored from an older copy`);
  }
}

/**
 * Writes the end of a run, unless its claim was taken over since `closeClaim`.
 *
 * @param generation as `closeClaim` says
 * @throws as `proveClaim`
 */
export async function endRun(
  { runs }: Pick<StorePorts, 'runs'>,
  subject: RunSubject,
  generation: number,
  run: Omit<RunWrite, 'sequence'>,
  report: unknown,
): Promise<void> {
  const ended = await runs.end({ ...run, sequence: CLOSING }, report, subject, generation);
  if (ended === null) throw lost(subject, 'another execution or run has taken it over');
}

/**
 * Asserts that the activity belongs to the run that its request names: requests are the words of whoever started the workflow.
 * A reset of a run that ended by itself is not that run.
 */
export async function assertOwn(fence: Fence, subject: RunSubject, { workflowId, runId }: ClaimHolder): Promise<void> {
  const me = own();
  if (me.workflowId === workflowId && me.runId === runId) return;
  const current = me.workflowId === workflowId ? await fence.execution(workflowId, runId) : null;
  if (current?.runId !== me.runId) throw closedBefore(subject, { runId });
}

/** The run id of the execution that has the claim's run now, when that, or the parent of which, is `me`. */
async function executionFor(fence: Fence, me: Execution, { workflowId, runId }: Claim): Promise<string | null> {
  const current = await fence.execution(workflowId, runId);
  if (!current?.isOpen) return null;
  if (me.workflowId === workflowId) return current.runId === me.runId ? current.runId : null;
  const child = current.children.find((one) => one.workflowId === me.workflowId);
  if (child === undefined) return null;
  // A child that was continued as new, or reset, is known to its parent by its first execution.
  const isNow = child.runId === me.runId || (await fence.execution(me.workflowId, null))?.runId === me.runId;
  return isNow ? current.runId : null;
}

/** Reopens a run in the store that was terminated and recorded as ended. One that died before it had a row gets that when it opens. */
async function goOn(store: StorePorts, { runId }: Claim, execution: string): Promise<void> {
  if ((await store.runs.known([runId])).size > 0) await reopenRun(store, await store.runs.get(runId));
  await store.audit.append({
    id: `reset-${execution}`,
    actor: 'temporal',
    action: 'run.reset',
    target: `run/${runId}`,
    details: { execution },
  });
}

const closedBefore = (subject: RunSubject, { runId }: Pick<ClaimHolder, 'runId'>): ApplicationFailure =>
  lost(subject, `run ${runId} has ended and cannot be reset`);

const lost = (subject: RunSubject, why: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(
    `this run does not hold ${subjectText(subject)}: ${why}; this step changed nothing`,
    CLAIM_LOST,
  );

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunSubject } from '../core/run/subject.ts';
import {
  CLOSING,
  type Claim,
  type Claimant,
  type ClaimHolder,
  type Store,
  type StorePorts,
  unlessNotFound,
} from '../store/index.ts';
import { claimLost, closedBefore } from './claim-lost.ts';
import { reopen } from './life.ts';
import type { RunLookups } from './run-lookups.ts';

/** The store says who has a subject, Temporal whether they still live. */
export interface Fence {
  readonly store: Store;
  readonly execution: RunLookups['execution'];
}

/** The execution that asks: of a run, or of a child of one. */
export type Execution = ClaimHolder;

/**
 * Proves that an execution has the subject now: it has the claim itself, or it is a child of the run that has it, or a reset put it in the
 * place of the execution that had it. The claim is taken over then.
 *
 * @throws ApplicationFailure of type `ClaimLost`, which ends the run
 */
export async function provenClaim(fence: Fence, subject: RunSubject, me: Execution): Promise<Claim> {
  for (;;) {
    const claim = await fence.store.claims.holder(subject);
    if (claim === null) throw claimLost(subject, 'no run holds it');
    if (claim.workflowId === me.workflowId && claim.executionId === me.runId) return claim;
    const execution = await executionFor(fence, me, claim);
    if (execution === null) throw claimLost(subject, `${claim.workflowId} (run ${claim.runId}) holds it`);
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

/** As `provenClaim`, of the run that a request names, by the run id of its first execution: it must be the one that has the claim. */
export async function claimOfRun(fence: Fence, subject: RunSubject, run: string | undefined, me: Execution) {
  const claim = await provenClaim(fence, subject, me);
  if (run !== undefined && claim.runId !== run)
    throw claimLost(subject, `${claim.workflowId} (run ${claim.runId}) holds it, not run ${run}`);
  return claim;
}

/** Claims a subject for the run that opens, after `assertOwn`. Null once that has it, else the run that has it. @throws as `provenClaim` */
export async function openClaim(
  fence: Fence,
  subject: RunSubject,
  run: ClaimHolder,
  me: Execution,
): Promise<ClaimHolder | null> {
  const claim = await fence.store.claims.holder(subject);
  if (claim?.workflowId === run.workflowId && claim.runId === run.runId) {
    await provenClaim(fence, subject, me);
    return null;
  }
  const other = await takeClaim(fence, subject, { ...run, executionId: me.runId });
  if (other === 'closed') throw closedBefore(subject, run);
  // Another execution of the same run was faster.
  return other?.runId === run.runId ? openClaim(fence, subject, run, me) : other;
}

/**
 * Claims a subject, taking over from a dead holder: a terminated run could not release its claim, so only Temporal knows. Null on success;
 * `closed` if the run has closed itself; else the run that holds it, which is the same run if another execution of it does.
 */
export async function takeClaim(
  { store: { claims }, execution }: { readonly store: Pick<StorePorts, 'claims'> } & Pick<Fence, 'execution'>,
  subject: RunSubject,
  holder: Claimant,
): Promise<ClaimHolder | 'closed' | null> {
  const asked = Date.now();
  let claim = await claims.claim(subject, holder);
  while (!claim.claimed) {
    const other = claim.holder;
    if (other === null) return 'closed';
    if (other.workflowId === holder.workflowId && other.runId === holder.runId) return other;
    if (other.workflowId === TIDYING) {
      if (Date.now() - asked < TIDIED_AFTER_MS) {
        await delay(LOOK_AGAIN_MS);
        claim = await claims.claim(subject, holder);
        continue;
      }
    } else if ((await execution(other.workflowId, other.runId))?.isOpen) return other;
    const taken = await claims.takeOver(subject, other, holder);
    claim = taken.claimed ? taken : await claims.claim(subject, holder);
  }
  return null;
}

/** Instead of the workflow id of a run: whoever has such a claim keeps it for seconds. */
const TIDYING = 'tidying';
/** A claim that is not given back by then is a dead process's. */
const TIDIED_AFTER_MS = 30_000;
const LOOK_AGAIN_MS = 500;

/**
 * Claims a subject that no run has, for seconds: a run that opens meanwhile waits.
 *
 * @param work gives its last change up well before `TIDIED_AFTER_MS`, and fails then: what MAAS may still do of it, it does before the
 * claim is over
 * @returns false, without having worked, while a run has it
 */
export async function whileUnclaimed(
  store: Pick<StorePorts, 'claims'>,
  subject: RunSubject,
  work: () => Promise<void>,
): Promise<boolean> {
  const id = randomUUID();
  const me = { workflowId: TIDYING, runId: id, executionId: id };
  const isRun = async () => ({ runId: '', isOpen: true, children: [], errors: {} });
  if ((await takeClaim({ store, execution: isRun }, subject, me)) !== null) return false;
  await work();
  await releaseClaim(store, subject, me);
  return true;
}

/**
 * As `provenClaim`, for closing a run; null when an earlier try has closed it, which released the claim. An execution that a reset has
 * put in the place of the one that closed it has another end, and its run is over.
 *
 * @returns the claim's generation
 */
export async function closeClaim(
  fence: Fence,
  subject: RunSubject,
  run: ClaimHolder,
  me: Execution,
  endedAt: string,
): Promise<number | null> {
  const known = await knownRun(fence, subject, run, me, fence.store.runs.get(run.runId));
  if (known.sequence < CLOSING) return (await claimOfRun(fence, subject, run.runId, me)).generation;
  await assertOwn(fence, subject, run, me);
  if (known.endedAt !== endedAt) throw closedBefore(subject, run);
  return null;
}

/**
 * What the store has of a run that closes. One that it has no record of gives its claim back: the store was brought back to a copy from the
 * moment in which the run opened, and nothing else of the run is left to close.
 */
export async function knownRun<T>(
  fence: Fence,
  subject: RunSubject,
  run: ClaimHolder,
  me: Execution,
  record: Promise<T>,
): Promise<T> {
  try {
    return await record;
  } catch (error) {
    unlessNotFound(error);
    await assertOwn(fence, subject, run, me);
    await releaseClaim(fence.store, subject, run);
    throw claimLost(subject, `the store has no record of run ${run.runId}: it was restored from an older copy`);
  }
}

/** Lets go of a subject, if the run has it. */
export const releaseClaim = async (
  { claims }: Pick<StorePorts, 'claims'>,
  subject: RunSubject,
  run: ClaimHolder,
): Promise<void> => void (await claims.release(subject, run));

/**
 * Asserts that an execution belongs to the run that its request names: requests are the words of whoever started the workflow.
 * A reset of a run that ended by itself is not that run.
 */
export async function assertOwn(
  fence: Pick<Fence, 'execution'>,
  subject: RunSubject,
  { workflowId, runId }: ClaimHolder,
  me: Execution,
): Promise<void> {
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
async function goOn(within: StorePorts, { runId }: Claim, execution: string): Promise<void> {
  if ((await within.runs.known([runId])).size > 0) await reopen(within, await within.runs.get(runId));
  await within.audit.append({
    id: `reset-${execution}`,
    actor: 'temporal',
    action: 'run.reset',
    target: `run/${runId}`,
    details: { execution },
  });
}

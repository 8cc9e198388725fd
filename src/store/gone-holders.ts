import type { ClaimHolder, ClaimSubject } from './ports/claim-store.js';
import type { StorePorts } from './ports/store.js';

/**
 * Whether Temporal has a workflow run open; with `null` the newest one of the workflow. A run that was terminated could
 * neither release its claim nor end its transaction: Temporal alone knows.
 */
export type IsOpen = (workflowId: string, runId: string | null) => Promise<boolean>;

/** A transaction whose workflow is not there yet may still be about to start it. */
const STARTING_MS = 60_000;

/** Claims a subject, also from a holder that is gone. Null once it is ours, else the run that has it. */
export async function claimFor(
  { claims }: Pick<StorePorts, 'claims'>,
  isOpen: IsOpen,
  subject: ClaimSubject,
  holder: ClaimHolder,
): Promise<ClaimHolder | null> {
  let claim = await claims.claim(subject, holder);
  while (!claim.claimed) {
    const other = claim.holder;
    if (await isOpen(other.workflowId, other.runId)) return other;
    const taken = await claims.takeOver(subject, other, holder);
    claim = taken.claimed ? taken : await claims.claim(subject, holder);
  }
  return null;
}

/** Ends the transaction of a run of graphs whose workflow is gone. False: it goes on. @throws `not-found` */
export async function endIfGone(
  { transactions }: Pick<StorePorts, 'transactions'>,
  isOpen: IsOpen,
  id: number,
): Promise<boolean> {
  const { run } = await transactions.getRun(id);
  if (run.status !== 'pending' && run.status !== 'running') return true;
  const { workflowId, temporalRunId, timeStart } = run;
  if (workflowId !== null && (await isOpen(workflowId, temporalRunId))) return false;
  const isStarting = timeStart !== null && Date.now() - Date.parse(timeStart) < STARTING_MS;
  if (temporalRunId === null && isStarting) return false;
  const message = temporalRunId === null ? 'Its workflow was never started' : 'Its workflow ended without closing it';
  await transactions.endRun(run.id, { status: 'error', message });
  return true;
}

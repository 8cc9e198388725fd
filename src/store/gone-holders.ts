import type { ClaimHolder, ClaimSubject } from './ports/claim-store.js';
import type { StorePorts } from './ports/store.js';

/**
 * Whether a workflow run is open in Temporal; with `null`, the workflow's newest run. A terminated run could neither
 * release its claim nor end its transaction, so only Temporal knows.
 */
export type IsOpen = (workflowId: string, runId: string | null) => Promise<boolean>;

/** A young transaction without a workflow may still be about to start one. */
const STARTING_MS = 60_000;

/** Claims a subject, taking over from a holder that is gone. Null on success, else the run that holds it. */
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

/** Ends the transaction of a graph run whose workflow is gone. False while the run is open. @throws `not-found` */
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

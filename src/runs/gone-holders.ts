import { lostReport } from '../core/run/lost-report.ts';
import type { AnyRunReport } from '../core/run/status.ts';
import { graphRunOf, type RunSubject } from '../core/run/subject.ts';
import { type LostOutcome, OPEN_TRANSACTION_STATUSES, type RunOutcome } from '../core/words.ts';
import {
  type Claimant,
  type ClaimHolder,
  type RunRecord,
  type Store,
  type StorePorts,
  unlessNotFound,
} from '../store/index.ts';
import { wholeGraphReport } from './graph-report.ts';

/**
 * Whether a workflow run is open in Temporal; with `null`, the workflow's newest run. A terminated run could neither
 * release its claim nor end its transaction, so only Temporal knows.
 */
export type IsOpen = (workflowId: string, runId: string | null) => Promise<boolean>;

/**
 * Claims a subject, taking over from a dead holder. Null on success; `closed` if the run has closed itself; else the run
 * that holds it, which is the same run if another execution of it does.
 */
export async function claimFor(
  { claims }: Pick<StorePorts, 'claims'>,
  isOpen: IsOpen,
  subject: RunSubject,
  holder: Claimant,
): Promise<ClaimHolder | 'closed' | null> {
  let claim = await claims.claim(subject, holder);
  while (!claim.claimed) {
    const other = claim.holder;
    if (other === null) return 'closed';
    if (other.workflowId === holder.workflowId && other.runId === holder.runId) return other;
    if (await isOpen(other.workflowId, other.runId)) return other;
    const taken = await claims.takeOver(subject, other, holder);
    claim = taken.claimed ? taken : await claims.claim(subject, holder);
  }
  return null;
}

/** Ends the open transactions of a cluster whose workflows are gone. */
export async function endGoneTransactions(
  { transactions }: Pick<StorePorts, 'transactions'>,
  isOpen: IsOpen,
  clusterId: number,
): Promise<void> {
  const open = await transactions.list({ clusterId, parentId: null, statuses: OPEN_TRANSACTION_STATUSES });
  for (const { id, workflowId, temporalRunId } of open) {
    if (workflowId !== null && (await isOpen(workflowId, temporalRunId))) continue;
    await transactions.endRun(id, { status: 'lost', message: 'Its workflow ended without closing it' });
  }
}

/** How a run ended whose record is open: it could not close it itself, or the store has forgotten that it did. */
export interface RunEnd {
  readonly outcome: RunOutcome | LostOutcome;
  readonly at: Date;
  readonly reason?: string;
  /** Whether another run started it. */
  readonly isChild?: boolean;
}

/** How a workflow run ended in Temporal; null while it is open. */
export type EndOf = (workflowId: string, runId: string | null) => Promise<RunEnd | null>;

/** Sends the notice of a run that is about to be closed as ended without its own doing. */
export type AnnounceEnd = (run: RunRecord, end: RunEnd) => Promise<void>;

/** How runs ended that did not close themselves, and who wants to know; absent: no one. */
interface Ends {
  readonly end: EndOf;
  readonly announceEnd?: AnnounceEnd;
}

type RunPorts = Pick<Store, 'runs' | 'transactions' | 'taskHistory' | 'atomically'>;

/** More open runs than any store has. */
export const MAX_OPEN = 500;

/** Closes those of the open runs whose workflow ended without doing so: terminated, or refused at its start. */
export async function closeGoneRuns(ports: RunPorts, ends: Ends, open: readonly OpenRun[]): Promise<void> {
  await Promise.all(open.map((run) => closeIfGone(ports, ends, run)));
}

type OpenRun = Pick<RunRecord, 'id' | 'workflowId' | 'temporalRunId'>;

/** Closes a run whose workflow ended without doing so, with a report on how. Returns the run as it is now. */
export async function closeIfGone(
  ports: RunPorts,
  { end: endOf, announceEnd }: Ends,
  { id, workflowId, temporalRunId }: OpenRun,
): Promise<RunRecord> {
  const end = await endOf(workflowId, temporalRunId);
  // Read afterwards: it may just have ended by itself, and then its last write is right.
  const run = await ports.runs.get(id);
  if (end === null || run.outcome !== null) return run;
  // First: once the row is closed, no one looks again.
  await announceEnd?.(run, end);
  return closeRun(ports, run, end);
}

/** Closes a run that could not do so itself, with its transaction. */
export async function closeRun(store: RunPorts, run: RunRecord, { outcome, at, reason }: RunEnd): Promise<RunRecord> {
  const { id, workflowId, kind, startedAt } = run;
  const { transaction } = graphRunOf(run);
  const sequence = run.sequence + 1;
  const endedAt = at.toISOString();
  const shown = ((await store.runs.getReport(id)) ?? undefined) as AnyRunReport | undefined;
  const report = shown && 'graphs' in shown ? await wholeGraphReport(store, shown) : shown;
  const seen = { report, nodes: await store.runs.listNodes(id) };
  const lost = lostReport({ ...run, outcome, endedAt }, seen, reason);
  return store.atomically(async ({ runs, transactions }) => {
    // Only runs of sites end with failures that do not matter.
    if (transaction !== null && outcome !== 'success_with_failures') {
      await transactions.endRun(transaction, { status: outcome, message: reason ?? outcome }).catch(unlessNotFound);
    }
    await runs.putReport(id, sequence, lost);
    return runs.put({
      id,
      sequence,
      workflowId,
      kind,
      startedAt,
      phase: 'finished',
      outcome,
      endedAt,
      failure: reason ?? null,
    });
  });
}

/** Opens a run again that was found ended and goes on: by a reset, or as its workflow was not refused after all. */
export async function reopenRun(
  { runs, transactions }: Pick<StorePorts, 'runs' | 'transactions'>,
  run: RunRecord,
): Promise<void> {
  if (run.outcome === null) return;
  const { id, workflowId, kind, startedAt, sequence } = run;
  const { transaction } = graphRunOf(run);
  if (transaction !== null) await transactions.reopenRun(transaction).catch(unlessNotFound);
  const open = {
    phase: 'starting',
    outcome: null,
    endedAt: null,
    done: null,
    total: null,
    failure: null,
    failedTasks: null,
  };
  await runs.put({ id, workflowId, kind, startedAt, sequence: sequence + 1, ...open });
}

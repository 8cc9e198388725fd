import type { GraphRunReport } from '../core/contracts/graph-run.ts';
import { given } from '../core/data/given.ts';
import { hasSystem } from '../core/node-system.ts';
import { describedRun, type RunDescription } from '../core/run/description.ts';
import { lostReport } from '../core/run/lost-report.ts';
import { type AnyRunReport, type AnyRunStatus, firstFailure, isHeld } from '../core/run/status.ts';
import { graphRunOf, numberOf, type RunSubject } from '../core/run/subject.ts';
import { cutShort, underWay } from '../core/run/under-way.ts';
import { hasClosedItself, isGraphOutcome, type LostOutcome, type RunOutcome } from '../core/words.ts';
import {
  CLOSING,
  type NewRun,
  type RunFilter,
  type RunNodeWrite,
  type RunRecord,
  type RunSummary,
  type RunTransactions,
  type RunWrite,
  type Store,
  type StorePorts,
  sequenceIn,
  unlessNotFound,
} from '../store/index.ts';
import { claimLost } from './claim-lost.ts';
import { wholeGraphReport } from './graph-report.ts';

/*
 * The life of a run in the store: opened, shown, closed by itself or by others, opened again. Only this file writes a run's
 * record: its row, its report, its nodes, and its graphs (test/architecture/runs.test.ts).
 */

/** A run as it is opened. */
export interface OpenedRun {
  readonly kind: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly started_at: string;
  readonly parameters: RunDescription;
  readonly started_by?: string | undefined;
  readonly reason?: string | undefined;
  /** Its own title and labels; those of the input come first. */
  readonly described?: Parameters<typeof describedRun>[1];
  readonly site?: string | undefined;
  readonly number?: number;
}

/** Adds a run that has its subject to the list of runs, or opens it again after a reset. */
export const openRecord = (store: Store, run: OpenedRun): Promise<RunRecord> =>
  store.atomically((within) => listed(within, run));

/** As `openRecord`, with the run's transactions, which give it its number. */
export const openGraphRecord = (
  store: Store,
  transactions: NewRun,
  runOf: (made: RunTransactions) => OpenedRun,
): Promise<RunTransactions> =>
  store.atomically(async (within) => {
    const made = await within.transactions.createRun(transactions);
    await listed(within, runOf(made));
    return made;
  });

async function listed(within: StorePorts, run: OpenedRun): Promise<RunRecord> {
  let row = await putRow(within, run);
  const { number } = run;
  // A try before this one may have listed the run as refused, under a number of its own.
  if (number !== undefined && row.number !== number)
    row = await within.runs.put({ ...nextOf(row), number, outcome: row.outcome });
  return reopen(within, row);
}

const putRow = ({ runs }: Pick<StorePorts, 'runs'>, run: OpenedRun): Promise<RunRecord> =>
  runs.put({
    id: run.run_id,
    sequence: 0,
    workflowId: run.workflow_id,
    temporalRunId: run.run_id,
    kind: run.kind,
    phase: 'starting',
    startedAt: run.started_at,
    parameters: run.parameters,
    ...describedRun(run.parameters, run.described),
    ...given({ site: run.site, number: run.number, startedBy: run.started_by, reason: run.reason }),
  });

/** What the next write of a run has whatever it changes. */
const nextOf = ({ id, workflowId, kind, phase, startedAt, sequence }: RunRecord) => ({
  ...{ id, workflowId, kind, phase, startedAt },
  sequence: sequence + 1,
});

/** Adds a run that was refused, closed, to the list of runs: no one else learns of it. */
export async function listRefused(store: Store, run: OpenedRun, reason: string): Promise<void> {
  const row = await putRow(store, run);
  if (row.outcome === null) await closeLost(store, row, { outcome: 'failed', at: new Date(), reason });
}

/** How an open run stands. */
interface Shown extends Pick<RunWrite, 'id' | 'sequence' | 'workflowId' | 'kind' | 'startedAt'> {
  readonly revision?: number | undefined;
  readonly plan?: RunWrite['plan'] | undefined;
}

/** Writes how an open run stands. One that has ended stays as it ended. */
export async function showRecord(
  { runs, nodes }: Pick<StorePorts, 'runs' | 'nodes'>,
  { revision, plan, ...run }: Shown,
  status: AnyRunStatus,
  report: AnyRunReport,
): Promise<void> {
  const failure = firstFailure(await withNameOfFirst(nodes, status));
  const row = { ...run, ...given({ revision, plan }), ...columnsOf(status), failure };
  await runs.show({ ...row, status, statusAt: new Date().toISOString() }, report);
}

/** What lists show of a run. */
function columnsOf(status: AnyRunStatus): Pick<RunWrite, 'phase'> & Partial<RunWrite> {
  const { phase, paused, awaiting_approval, done, total } = status;
  const failures =
    'cluster' in status
      ? { failedNodes: status.failing_nodes, failedTasks: status.counts.failed ?? 0 }
      : { failedNodes: status.counts.failed };
  return {
    phase,
    paused: paused !== null,
    held: isHeld(status),
    awaitingApproval: awaiting_approval !== undefined,
    done,
    total,
    ...failures,
  };
}

/** Its first failure with the node as people call it: the status of a run of graphs has the ids of nodes. */
async function withNameOfFirst(
  nodes: StorePorts['nodes'],
  status: AnyRunStatus,
): Promise<Pick<AnyRunStatus, 'failed'>> {
  const [first] = status.failed;
  const id = Number(first?.node);
  if (first === undefined || !('task' in first) || !Number.isSafeInteger(id)) return status;
  const node = await nodes.get(id).catch(unlessNotFound);
  return node === undefined ? status : { failed: [{ ...first, node: node.name }] };
}

/** @param generation of the claim under which the run has recorded them */
export const recordNodes = (
  { runs }: Pick<StorePorts, 'runs'>,
  run: string,
  generation: number,
  {
    sequence,
    nodes,
  }: { readonly sequence: number; readonly nodes: readonly Omit<RunNodeWrite, 'node' | 'sequence'>[] },
): Promise<void> => {
  const at = sequenceIn(generation, sequence);
  return runs.putNodes(
    run,
    nodes.map((node) => ({ ...node, node: node.report.name, sequence: at })),
  );
};

/** Forgets the nodes that only an execution before this claim has recorded: of before a reset, and of other documents. */
export const forgetOlderNodes = ({ runs }: Pick<StorePorts, 'runs'>, run: string, generation: number): Promise<void> =>
  runs.dropNodes(run, sequenceIn(generation, 0));

/** The end of a run by itself. */
interface Closed {
  readonly subject: RunSubject;
  /** As `closeClaim` says. */
  readonly generation: number;
  readonly run: Omit<RunWrite, 'sequence' | 'phase'> & { readonly outcome: RunOutcome; readonly endedAt: string };
  readonly report: unknown;
  /** Of a run of graphs, with what its report says of them. */
  readonly transaction?: number;
  readonly graphs?: readonly Told[];
}

/**
 * Closes a run that ended by itself, with its transaction, and releases its claim, unless that was taken over since `closeClaim`.
 *
 * @param also what ends with it
 * @throws ApplicationFailure of type `ClaimLost`
 */
export const closeRecord = (
  store: Store,
  { subject, generation, run, report, transaction, graphs }: Closed,
  also?: (within: StorePorts) => Promise<void>,
): Promise<void> =>
  store.atomically(async (within) => {
    const row = { ...run, phase: 'finished', sequence: CLOSING };
    if ((await within.runs.end(row, report, subject, generation)) === null)
      throw claimLost(subject, 'another execution or run has taken it over');
    if (transaction !== undefined) await endGraphs(within, transaction, run, graphs, true);
    await also?.(within);
  });

/** What a report says of a graph. */
type Told = Pick<GraphRunReport['graphs'][number], 'transaction' | 'state'>;

async function endGraphs(
  { transactions }: Pick<StorePorts, 'transactions'>,
  run: number,
  { outcome, endedAt }: { readonly outcome: RunOutcome | LostOutcome; readonly endedAt: string },
  graphs: readonly Told[] = [],
  isOwn = false,
): Promise<void> {
  // Only runs of sites end with failures that do not matter.
  if (outcome === 'success_with_failures') return;
  const known = new Map(
    graphs.flatMap(({ transaction, state }) => (isGraphOutcome(state) ? [[transaction, state]] : [])),
  );
  await transactions.endGraphs(run, { status: outcome, timeEnd: endedAt, known, isOwn });
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
export interface Ends {
  readonly end: EndOf;
  readonly announceEnd?: AnnounceEnd;
}

/** More open runs than any store has. */
const MAX_OPEN = 500;

/**
 * Closes the open runs whose workflows ended without doing so: terminated, refused at their start, or gone with Temporal's data. One of
 * the workers does this all the time (reconciler.ts), and whoever opens a run for the runs on its subject.
 *
 * @returns those that were open
 */
export async function closeGone(
  { store, end, announceEnd }: Ends & { readonly store: Store },
  which: Pick<RunFilter, 'site' | 'kind' | 'labels'> = {},
): Promise<readonly RunSummary[]> {
  const { items } = await store.runs.list({ ...which, open: true, limit: MAX_OPEN });
  const close = async ({ id, workflowId, temporalRunId }: RunSummary): Promise<void> => {
    const ended = await end(workflowId, temporalRunId);
    // Read afterwards: it may just have ended by itself, and then its last write is right.
    const run = ended && (await store.runs.get(id));
    if (run?.outcome !== null) return;
    // First: once the row is closed, no one looks again.
    await announceEnd?.(run, ended!);
    await closeLost(store, run, ended!);
  };
  await Promise.all(items.map(close));
  return items;
}

/** How a run ended that could not say so itself. */
interface LostRun {
  readonly run: RunRecord;
  readonly report: AnyRunReport;
}

/** The store clears the same when a run ends. */
const STILL = { paused: false, held: false, awaitingApproval: false, status: null, statusAt: null };

/** Such a run and its report, by what it has shown and recorded. Nothing is written. */
export const lostRun = async (store: LostPorts, run: RunRecord, end: RunEnd): Promise<LostRun> =>
  lostAsShown(store, run, await shownReport(store, run), end);

type LostPorts = Pick<StorePorts, 'runs' | 'taskHistory'>;

const shownReport = async ({ runs }: Pick<StorePorts, 'runs'>, { id }: RunRecord): Promise<AnyRunReport | undefined> =>
  ((await runs.getReport(id)) ?? undefined) as AnyRunReport | undefined;

async function lostAsShown(
  { runs, taskHistory }: LostPorts,
  run: RunRecord,
  shown: AnyRunReport | undefined,
  { outcome, at, reason }: RunEnd,
): Promise<LostRun> {
  const report = shown && 'graphs' in shown ? await wholeGraphReport({ taskHistory }, shown) : shown;
  const closed = { ...run, ...STILL, phase: 'finished', outcome, endedAt: at.toISOString(), failure: reason ?? null };
  return { run: closed, report: lostReport(closed, { report, nodes: await runs.listNodes(run.id) }, reason) };
}

const graphsIn = (report: AnyRunReport | undefined): readonly Told[] =>
  report !== undefined && 'graphs' in report ? report.graphs : [];

/** Closes a run that could not do so itself, with its transaction. */
async function closeLost(store: Store, run: RunRecord, end: RunEnd): Promise<void> {
  const shown = await shownReport(store, run);
  const lost = await lostAsShown(store, run, shown, end);
  const { phase, outcome, failure } = lost.run;
  const endedAt = end.at.toISOString();
  const { transaction } = graphRunOf(run);
  const row = { ...nextOf(run), phase, outcome, endedAt, failure };
  const left = hasClosedItself(end.outcome) ? [] : underWay(shown);
  await store.atomically(async (within) => {
    await noteCutShort(within.nodes, run, end.outcome, left);
    if (transaction !== null)
      await endGraphs(within, transaction, { outcome: end.outcome, endedAt }, graphsIn(shown)).catch(unlessNotFound);
    await within.runs.putReport(run.id, row.sequence, lost.report);
    await within.runs.put(row);
  });
}

/** Machines without a system that a lost run was in the middle of: their next deployment takes it back. */
async function noteCutShort(
  nodes: StorePorts['nodes'],
  run: RunRecord,
  outcome: string,
  left: ReturnType<typeof underWay>,
): Promise<void> {
  if (run.site === null || left.length === 0) return;
  const byName = new Map(left.map((node) => [node.name, node]));
  const changes = (await nodes.list({ site: run.site })).flatMap((node) => {
    const cut = byName.get(node.hostname ?? '') ?? byName.get(node.name);
    if (cut === undefined || hasSystem(node)) return [];
    const next = `Look at it: sitewright node status ${run.site}`;
    const errorMsg = `Run ${numberOf(run)} did not deploy it: ${cutShort(cut, outcome)}. ${next}`;
    return [{ id: node.id, change: { status: 'error', errorType: 'provision', errorMsg } as const }];
  });
  if (changes.length > 0) await nodes.updateMany(changes);
}

/** Opens a run again that was found ended and goes on: by a reset, or as its workflow was not refused after all. */
export async function reopen(within: Pick<StorePorts, 'runs' | 'transactions'>, run: RunRecord): Promise<RunRecord> {
  if (run.outcome === null) return run;
  const { transaction } = graphRunOf(run);
  if (transaction !== null) await within.transactions.reopenGraphs(transaction).catch(unlessNotFound);
  return within.runs.put({ ...nextOf(run), phase: 'starting', ...AS_IF_OPENED });
}

const AS_IF_OPENED = { outcome: null, endedAt: null, done: null, total: null, failure: null, failedTasks: null };

import { given } from '../src/core/data/given.ts';
import { isMapping } from '../src/core/data/plain-value.ts';
import { claimedName } from '../src/core/run/claimed-name.ts';
import { describedRun, type RunDescription } from '../src/core/run/description.ts';
import { refusedId, STARTED } from '../src/core/run/passed-on.ts';
import { closeRun, reopenRun } from '../src/runs/gone-holders.ts';
import type { ClaimHolder, RunRecord, Store } from '../src/store/index.ts';
import type { StartedWith } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Who started a run: a name that can be believed, or what it claims. Nobody, where it names nobody. */
export async function starterOf(
  { store, execution }: Pick<ActivityDependencies, 'store' | 'execution'>,
  { workflowId, runId }: ClaimHolder,
  name: string | undefined,
  { entry, parent }: StartedWith = {},
): Promise<Pick<OpenedRunRow, 'started_by' | 'entry'>> {
  if (name === undefined) return {};
  if (entry !== undefined) {
    const found = new Map(
      (await store.audit.find([entry, startId(entry), refusedId(entry)])).map((one) => [one.id, one]),
    );
    const { action, target, actor } = found.get(entry) ?? {};
    const isOurs = action === STARTED && target === `workflow/${workflowId}` && actor === name;
    // A start that an API passed on opens one run.
    const opened = found.get(startId(entry))?.details;
    const isUsed = found.has(refusedId(entry)) || (isMapping(opened) && opened.run !== runId);
    if (isOurs && !isUsed) return { started_by: name, entry };
  }
  if (parent !== undefined) {
    const { items } = await store.runs.list({ workflowId: parent, open: true, limit: 1 });
    const now = items[0] && (await execution(parent, items[0].id));
    const isChild = now?.children.some((child) => child.workflowId === workflowId) ?? false;
    if (isChild && items[0]!.startedBy === name) return { started_by: name };
  }
  return { started_by: claimedName(name) };
}

/** A run as it is opened. */
export interface OpenedRunRow {
  readonly kind: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly started_at: string;
  readonly parameters: RunDescription;
  readonly started_by?: string | undefined;
  /** Entry of the audit trail that proves that name. */
  readonly entry?: string | undefined;
  readonly reason?: string | undefined;
  /** Its own title and labels; those of the input come first. */
  readonly described?: Parameters<typeof describedRun>[1];
  readonly site?: string | undefined;
  readonly number?: number;
}

const putRow = (store: Store, run: OpenedRunRow): Promise<RunRecord> =>
  store.runs.put({
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

/** Adds a run that has its subject to the list of runs, or opens it again after a reset. */
export async function listOpened(store: Store, run: OpenedRunRow): Promise<RunRecord> {
  let row = await putRow(store, run);
  const { id, workflowId, kind, phase, startedAt, sequence } = row;
  // A try before this one may have listed the run as refused, under a number of its own.
  if (run.number !== undefined && row.number !== run.number)
    row = await store.runs.put({
      ...{ id, workflowId, kind, phase, startedAt, sequence: sequence + 1 },
      ...{ number: run.number, outcome: row.outcome },
    });
  await reopenRun(store, row);
  return row;
}

/** Adds a run that was refused, closed, to the list of runs: no one else learns of it. */
export async function listRefused(store: Store, run: OpenedRunRow, reason: string): Promise<void> {
  const row = await putRow(store, run);
  if (row.outcome === null) await closeRun(store, row, { outcome: 'failed', at: new Date(), reason });
}

const startId = (of: string): string => `start-${of}`;

/** Adds the start of a run to the audit trail, once. */
export async function auditStart(
  store: Store,
  { kind, run_id, started_at, started_by, entry, reason }: OpenedRunRow,
  target: string,
  details?: object,
): Promise<void> {
  await store.audit.append({
    id: startId(entry ?? run_id),
    at: started_at,
    actor: started_by ?? claimedName(undefined),
    action: `run.${kind}`,
    target,
    ...given({ details: entry === undefined ? details : { ...details, run: run_id }, reason }),
  });
}

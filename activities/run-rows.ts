import { given } from '../src/core/data/given.ts';
import { describedRun, type RunDescription } from '../src/core/run/description.ts';
import { closeRun, type RunRecord, reopenRun, type Store } from '../src/store/index.ts';

/** A run as it is opened. */
export interface OpenedRunRow {
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
  const row = await putRow(store, run);
  await reopenRun(store, row);
  return row;
}

/** Adds a run that was refused, closed, to the list of runs: no one else learns of it. */
export async function listRefused(store: Store, run: OpenedRunRow, reason: string): Promise<void> {
  const row = await putRow(store, run);
  if (row.outcome === null) await closeRun(store, row, { outcome: 'failed', at: new Date(), reason });
}

/** Adds the start of a run to the audit trail, once. */
export async function auditStart(
  store: Store,
  { kind, run_id, started_at, started_by, reason }: OpenedRunRow,
  target: string,
  details?: object,
): Promise<void> {
  await store.audit.append({
    id: `start-${run_id}`,
    at: started_at,
    actor: started_by ?? 'temporal',
    action: `run.${kind}`,
    target,
    ...given({ details, reason }),
  });
}

import {
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowNotFoundError,
  type WorkflowUpdateHandle,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import { ulid } from 'ulid';
import type { OpenedRow, RunOpening, WorkflowContracts } from '../../workflows/contract.ts';
import { ANSWERED, prefixed } from '../../workflows/protocol.ts';
import { given } from '../core/data/given.ts';
import type { RunDescription } from '../core/run/description.ts';
import { ACCEPT_MS, OPEN_MS } from '../core/run/opening.ts';
import { refusedId, STARTED } from '../core/run/passed-on.ts';
import { metadataClient } from '../platform/temporal/metadata-client.ts';
import { waitsForWorker } from '../runs/find-execution.ts';
import type { OpsDependencies } from './dependencies.ts';
import { asProblem } from './problem.ts';
import { metadataOf } from './run-metadata.ts';
import { callTemporal, requestOfTemporal } from './temporal-calls.ts';
import { appendAudit } from './without-store.ts';

type RunType = {
  [W in keyof WorkflowContracts]: WorkflowContracts[W] extends { opening: unknown } ? W : never;
}[keyof WorkflowContracts];
type Opening<W extends RunType> = WorkflowContracts[W]['opening'];
type Failure<W extends RunType> = Extract<Opening<W>, { readonly ok: false }>['failure'];

/** What became of a start. */
export type StartedRun<W extends RunType> =
  | { readonly kind: 'opened'; readonly run: OpenedRow }
  | { readonly kind: 'refused'; readonly failure: Failure<W> }
  /** Temporal has accepted it, and no worker has opened it yet: none took it in time, or its store is away. */
  | { readonly kind: 'waiting'; readonly id: string; readonly workflowId: string };

/**
 * Starts a run: its workflow checks the request, claims its subject and writes its row (docs/explain/design.md#runs).
 *
 * @param summary shown in Temporal for a run without a title
 * @throws WorkflowExecutionAlreadyStartedError for a second run with an open workflow's id
 */
export async function startRun<W extends RunType>(
  deps: OpsDependencies,
  type: W,
  id: string,
  input: WorkflowContracts[W]['input'] & RunDescription & { readonly reason?: string; readonly started_by?: string },
  summary: string,
): Promise<StartedRun<W>> {
  const { temporal } = deps;
  const { workflow } = temporal.client;
  const workflowId = prefixed(temporal.prefix, id);
  const { memo, ...metadata } = metadataOf(deps, input, summary);
  // Tells this start from another one with the same id, and names its update and its entry in the audit trail.
  const answered = ulid();
  const started = { action: STARTED, target: `workflow/${workflowId}`, ...given({ reason: input.reason }) };
  const actor = input.started_by ?? 'unknown';
  await appendAudit(deps.store, { ...started, id: answered, actor });
  const operation = new WithStartWorkflowOperation(type, {
    taskQueue: temporal.taskQueue,
    workflowId,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    args: [input],
    memo: { ...memo, [ANSWERED]: answered },
    ...metadata,
  });
  let update: WorkflowUpdateHandle<Opening<W>>;
  try {
    update = await requestOfTemporal(
      temporal,
      () =>
        workflow.startUpdateWithStart<Workflow, Opening<W>, []>('opened', {
          updateId: answered,
          waitForStage: 'ACCEPTED',
          startWorkflowOperation: operation,
        }),
      ACCEPT_MS,
    );
  } catch (error) {
    const found = await startedAs(deps, workflowId, answered, error);
    // One that has taken it is busy, and is about to open it.
    if (waitsForWorker(found.raw.pendingWorkflowTask)) return { kind: 'waiting', id: found.runId, workflowId };
    update = workflow.getHandle(workflowId).getUpdateHandle(answered, { workflowRunId: found.runId });
  }
  try {
    const opening: RunOpening<Failure<W>> = await callTemporal(temporal, () => update.result(), OPEN_MS);
    if (opening.ok) return { kind: 'opened', run: opening.run };
    const details = { refused: opening.failure.kind };
    await appendAudit(deps.store, { ...started, id: refusedId(answered), actor, details });
    return { kind: 'refused', failure: opening.failure };
  } catch (error) {
    return { kind: 'waiting', id: (await startedAs(deps, workflowId, answered, error)).runId, workflowId };
  }
}

/** The execution of a start that a worker has not answered. Throws the error where the start made none, or failed otherwise. */
async function startedAs({ temporal }: OpsDependencies, workflowId: string, answered: string, error: unknown) {
  // A server that restarts forgets an update that no worker has accepted.
  const isForgotten = error instanceof WorkflowNotFoundError;
  if (!isForgotten && asProblem(error).code !== 'worker-unavailable') throw error;
  const found = await callTemporal(temporal, () =>
    metadataClient(temporal.client).getHandle(workflowId).describe(),
  ).catch(() => undefined);
  if (found?.memo?.[ANSWERED] !== answered) throw error;
  return found;
}

import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';
import { isMapping } from '../core/data/plain-value.ts';
import { GRAPH_RUN_OUTCOMES, type RunOutcome, SITE_RUN_OUTCOMES } from '../core/words.ts';
import { metadataClient } from '../platform/temporal/metadata-client.ts';
import type { RunEnd } from './life.ts';

/** `PENDING_WORKFLOW_TASK_STATE_SCHEDULED`. */
const SCHEDULED = 1;
/** A worker takes a workflow task within milliseconds; one that starts, within seconds. */
const OVERDUE_MS = 5_000;

/** Whether a workflow run in this state may still act. */
export const isOpenStatus = (status: string): boolean => status === 'RUNNING' || status === 'PAUSED';

/** The outcome of a run whose execution has ended in this way, and with this result if it has one. */
export function closedOutcome(status: string, result: unknown): RunEnd['outcome'] {
  if (status === 'TERMINATED') return 'terminated';
  if (status === 'CANCELLED') return 'cancelled';
  if (status !== 'COMPLETED') return 'failed';
  const said = (result as { readonly outcome?: unknown } | null | undefined)?.outcome;
  return OUTCOMES.find((outcome) => outcome === said) ?? 'success';
}

const OUTCOMES: readonly RunOutcome[] = [...SITE_RUN_OUTCOMES, ...GRAPH_RUN_OUTCOMES];

/** The execution that a run has now: its first, or the one that a reset put in its place. */
interface RunExecution {
  readonly runId: string;
  readonly isOpen: boolean;
  /** Its child workflows that have not ended, each with the run id of its first execution. */
  readonly children: readonly { readonly workflowId: string; readonly runId: string }[];
}

/** An execution as it was when it was looked up. */
export interface FoundExecution extends RunExecution {
  /** Whether Temporal itself has paused it: its workflow gets no tasks, and answers neither queries nor updates. */
  readonly isPaused: boolean;
  /** Whether something has happened to it that no worker could process yet. */
  readonly isOverdue: boolean;
  /** Ids of the activities that it waits for. */
  readonly activities: readonly string[];
  /** The errors of the last attempts of those that have failed before. */
  readonly errors: Readonly<Record<string, string>>;
  /** Reads what MAAS last said of the machines of those that told it with their heartbeats. */
  readonly said: () => Promise<Readonly<Record<string, string>>>;
}

/**
 * The execution of a run, by the run id of its first; null: of the newest run of the workflow. A reset of a run in flight, or
 * of one that was terminated, is the same run going on; an execution that a reset made of a run that had ended by itself
 * is not. Null for a run that Temporal does not know, or has forgotten.
 */
export async function findExecution(
  client: Client,
  workflowId: string,
  runId: string | null,
): Promise<FoundExecution | null> {
  let wanted = runId ?? undefined;
  try {
    for (;;) {
      const { status, runId, raw } = await metadataClient(client).getHandle(workflowId, wanted).describe();
      const isTerminated = status.name === 'TERMINATED';
      const next = isTerminated && (raw.workflowExtendedInfo?.resetRunId || (await newestAfter(client, raw)));
      if (!next) {
        const children = (raw.pendingChildren ?? []).map((child) => ({
          workflowId: child.workflowId ?? '',
          runId: child.runId ?? '',
        }));
        const pending = raw.pendingActivities ?? [];
        const activities = pending.map(({ activityId }) => activityId ?? '');
        const errors = Object.fromEntries((await Promise.all(pending.map((one) => lastError(client, one)))).flat());
        // Most who look an execution up decide something, and there may be hundreds of heartbeats to decode.
        const said = async () =>
          Object.fromEntries((await Promise.all(pending.map((one) => lastSaid(client, one)))).flat());
        const isOpen = isOpenStatus(status.name);
        const isPaused = status.name === 'PAUSED';
        return {
          runId,
          isOpen,
          isPaused,
          isOverdue: isOverdue(raw.pendingWorkflowTask),
          children,
          activities,
          errors,
          said,
        };
      }
      wanted = next;
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

async function lastError(
  { options }: Client,
  { activityId, lastFailure }: temporal.api.workflow.v1.IPendingActivityInfo,
): Promise<[string, string][]> {
  if (!lastFailure) return [];
  try {
    const error = await decodeOptionalFailureToOptionalError(options.loadedDataConverter, lastFailure);
    return error === undefined ? [] : [[activityId ?? '', error.message]];
  } catch {
    // Of an installation whose key this process does not have.
    return [];
  }
}

async function lastSaid(
  { options }: Client,
  { activityId, heartbeatDetails }: temporal.api.workflow.v1.IPendingActivityInfo,
): Promise<[string, string][]> {
  try {
    const [beat] = await decodeArrayFromPayloads(options.loadedDataConverter, heartbeatDetails?.payloads);
    const said = isMapping(beat) ? beat.maas : undefined;
    return typeof said === 'string' ? [[activityId ?? '', said]] : [];
  } catch {
    return [];
  }
}

type Described = Awaited<ReturnType<WorkflowHandle['describe']>>['raw'];

/** The execution that a reset put in the place of this one, where the server does not say so: those before 1.28 do not. */
async function newestAfter(client: Client, { workflowExecutionInfo: ended }: Described): Promise<string | undefined> {
  const { execution, firstRunId } = ended ?? {};
  if (!execution?.workflowId || !firstRunId) return undefined;
  const { runId, raw } = await metadataClient(client).getHandle(execution.workflowId).describe();
  const isOfIt = runId !== execution.runId && raw.workflowExecutionInfo?.firstRunId === firstRunId;
  return isOfIt ? runId : undefined;
}

type WorkflowTask = Described['pendingWorkflowTask'];

/** Whether a workflow has something to process that no worker has taken. */
export const waitsForWorker = (task: WorkflowTask): boolean => task?.state === SCHEDULED;

function isOverdue(task: WorkflowTask): boolean {
  if (!task) return false;
  const isWaiting = waitsForWorker(task) && Date.now() - Number(task.scheduledTime?.seconds) * 1000 > OVERDUE_MS;
  return isWaiting || Number(task.attempt) > 1;
}

import { type Client, WorkflowFailedError } from '@temporalio/client';
import { ValueError } from '@temporalio/common';
import { QUERIES } from '../../workflows/protocol.ts';
import type { Paused } from '../core/contracts/primitives.ts';
import { given } from '../core/data/given.ts';
import { metadataClient } from '../platform/temporal/metadata-client.ts';
import { sharedQuestions } from '../platform/temporal/shared-questions.ts';
import { closedOutcome, type FoundExecution, findExecution, isOpenStatus } from './find-execution.ts';
import type { RunEnd } from './life.ts';

/** Facts of runs that only Temporal has. */
export interface RunLookups {
  /** See `findExecution`. */
  readonly execution: (
    workflowId: string,
    runId: string | null,
  ) => Promise<Pick<FoundExecution, 'runId' | 'isOpen' | 'children' | 'errors'> | null>;
  /** How a run ended; null while it is open. */
  readonly end: (workflowId: string, runId: string | null) => Promise<RunEnd | null>;
  /** See `triedActivities`. */
  readonly tried: (workflowId: string, runId: string) => Promise<readonly string[]>;
  /** See `holdLookup`. */
  readonly hold: HoldLookup;
}

export const runLookups = (client: Client): RunLookups => ({
  execution: (workflowId, runId) => findExecution(client, workflowId, runId),
  end: (workflowId, runId) => findEnd(client, workflowId, runId),
  tried: (workflowId, runId) => triedActivities(client, workflowId, runId),
  hold: holdLookup(client),
});

/** How a run ended, over its resets; null while it is open. */
export async function findEnd(client: Client, workflowId: string, runId: string | null): Promise<RunEnd | null> {
  const execution = await findExecution(client, workflowId, runId);
  if (execution === null)
    return { outcome: 'lost', at: new Date(), reason: 'Temporal has no record of this run any more' };
  if (execution.isOpen) return null;
  const { status, closeTime, parentExecution } = await metadataClient(client)
    .getHandle(workflowId, execution.runId)
    .describe();
  const result = client.workflow.getHandle(workflowId, execution.runId).result();
  const { said, why } = await result.then(
    (said: unknown) => ({ said, why: undefined }),
    (error: unknown) => {
      // A result that this process cannot decode is one all the same.
      if (error instanceof ValueError) return { said: undefined, why: error.message };
      if (!(error instanceof WorkflowFailedError)) throw error;
      return { said: undefined, why: error.cause?.message ?? error.message };
    },
  );
  const outcome = closedOutcome(status.name, said);
  const isChild = parentExecution !== undefined;
  return { outcome, at: closeTime ?? new Date(), isChild, ...given({ reason: why }) };
}

/** A worker answers in milliseconds; more than this means that none does. */
const LIMIT_MS = 10_000;

/** What keeps a run from starting anything new. */
interface RunHold {
  readonly paused: Paused | null;
  /** It ends: nothing starts any more. */
  readonly stopping: boolean;
}

/**
 * Asks a run whether it starts anything new. Rejects if its workflow does not answer, or has ended.
 *
 * @param runId null: of the newest execution of the workflow
 */
type HoldLookup = (workflowId: string, runId: string | null) => Promise<RunHold>;

/**
 * Asks the workflows themselves: an answer covers every signal that the server had accepted before the question, also one
 * that no worker has processed yet. Only of a run that is still open afterwards: one that someone has terminated meanwhile answers
 * without such signals. Questions are shared, as the server keeps few waiting.
 */
export function holdLookup(client: Client, describe = ofExecutions(client)): HoldLookup {
  return sharedQuestions((workflowId, runId) =>
    client.connection.withDeadline(Date.now() + LIMIT_MS, async () => {
      const own = runId ?? (await describe(workflowId)).runId;
      const { paused, stopping } = await client.workflow.getHandle(workflowId, own).query<RunHold>(QUERIES.status);
      const { status } = await describe(workflowId, own);
      if (!isOpenStatus(status.name)) throw new Error('its workflow has ended');
      return { paused, stopping };
    }),
  );
}

type Describe = (
  workflowId: string,
  runId?: string,
) => Promise<{ readonly runId: string; readonly status: { readonly name: string } }>;

const ofExecutions =
  (client: Client): Describe =>
  (workflowId, runId) =>
    metadataClient(client).getHandle(workflowId, runId).describe();

/** Pending activities of an execution that a worker has ever taken, by their ids: those that wait for another try, too. */
export async function triedActivities(client: Client, workflowId: string, runId: string): Promise<readonly string[]> {
  const { raw } = await metadataClient(client).getHandle(workflowId, runId).describe();
  return (raw.pendingActivities ?? []).flatMap(({ activityId, attempt, lastStartedTime }) =>
    activityId && ((attempt ?? 0) > 1 || lastStartedTime) ? [activityId] : [],
  );
}

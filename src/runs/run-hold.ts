import type { Client } from '@temporalio/client';
import { QUERIES } from '../../workflows/protocol.ts';
import type { Paused } from '../core/run/index.ts';
import { sharedQuestions } from '../platform/temporal/shared-questions.ts';

/** A worker answers in milliseconds; more than this means that none does. */
const LIMIT_MS = 10_000;

/** What keeps a run from starting anything new. */
interface RunHold {
  readonly paused: Paused | null;
  /** It ends: nothing starts any more. */
  readonly stopping: boolean;
}

/**
 * Asks a run whether it starts anything new. Rejects if its workflow does not answer.
 *
 * @param runId null: of the newest execution of the workflow
 */
export type HoldLookup = (workflowId: string, runId: string | null) => Promise<RunHold>;

/**
 * Asks the workflows themselves: an answer covers every signal that the server had accepted before the question, also one
 * that no worker has processed yet. Questions are shared, as the server keeps few waiting.
 */
export function holdLookup(client: Client): HoldLookup {
  return sharedQuestions(async (workflowId, runId) => {
    const handle = client.workflow.getHandle(workflowId, runId ?? undefined);
    const { paused, stopping } = await client.connection.withDeadline(Date.now() + LIMIT_MS, () =>
      handle.query<RunHold>(QUERIES.status),
    );
    return { paused, stopping };
  });
}

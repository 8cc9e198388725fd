import type { Client } from '@temporalio/client';
import { sharedQuestions } from '../platform/temporal/shared-questions.ts';
import { type FoundExecution, findExecution } from './find-execution.ts';

/** Describing an execution needs no worker. */
const LIMIT_MS = 10_000;

/**
 * Whether a run itself, or a part of it, has started an activity and waits for its end.
 *
 * @param runId of the run's first execution: another workflow with the same id is not the run
 * @param activityId without the number of its sending
 */
export type StartedLookup = (workflowId: string, runId: string, activityId: string) => Promise<boolean>;

/** What the lookup reads of an execution. */
type Described = Pick<FoundExecution, 'children' | 'activities'> | null;

/** Describes an execution by the server's own record: only a run's workflow task adds to its pending activities. */
export const describeBy =
  (client: Client) =>
  (workflowId: string, runId: string | null): Promise<Described> =>
    client.connection.withDeadline(Date.now() + LIMIT_MS, () => findExecution(client, workflowId, runId));

export function startedLookup(ask: (workflowId: string, runId: string | null) => Promise<Described>): StartedLookup {
  const describe = sharedQuestions(ask);
  return async (workflowId, runId, activityId) => {
    const run = await describe(workflowId, runId);
    if (run === null) return false;
    if (has(run, activityId)) return true;
    // A part may have continued as new, and is then another execution; while it is open, no one else has its id.
    const parts = await Promise.all(run.children.map((part) => describe(part.workflowId, null)));
    return parts.some((part) => part !== null && has(part, activityId));
  };
}

/** `netconfig@n1`, or `netconfig@n1/2` where it was sent again, or `restart@n1/power` where MAAS does it instead. */
const has = ({ activities }: Pick<FoundExecution, 'activities'>, activityId: string): boolean =>
  activities.some(
    (id) =>
      id === activityId || (id.startsWith(`${activityId}/`) && /^(?:\d+|power)$/.test(id.slice(activityId.length + 1))),
  );

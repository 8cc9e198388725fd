import type { Client } from '@temporalio/client';
import { metadataClient } from '../platform/temporal/metadata-client.ts';

/** Pending activities of an execution that a worker has ever taken, by their ids: those that wait for another try, too. */
export async function triedActivities(client: Client, workflowId: string, runId: string): Promise<readonly string[]> {
  const { raw } = await metadataClient(client).getHandle(workflowId, runId).describe();
  return (raw.pendingActivities ?? []).flatMap(({ activityId, attempt, lastStartedTime }) =>
    activityId && ((attempt ?? 0) > 1 || lastStartedTime) ? [activityId] : [],
  );
}

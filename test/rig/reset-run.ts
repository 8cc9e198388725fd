import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { TemporalRig } from './temporal.ts';

export type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;
export type EventId = NonNullable<Events[number]['eventId']>;

/** The workflow task that scheduled the first activity of a type. */
export const beforeFirst =
  (activity: string) =>
  (events: Events): EventId =>
    events
      .map((event) => event.activityTaskScheduledEventAttributes)
      .find((attributes) => attributes?.activityType?.name === activity)!.workflowTaskCompletedEventId!;

/** Resets an execution to before the workflow task that `to` finds in its history; the new execution. */
export async function resetRun(
  rig: Pick<TemporalRig, 'client' | 'namespace'>,
  workflowExecution: { readonly workflowId: string; readonly runId: string },
  to: (events: Events) => EventId,
) {
  const { workflowId, runId } = workflowExecution;
  const { events } = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
  const reset = await rig.client.workflowService.resetWorkflowExecution({
    namespace: rig.namespace,
    workflowExecution,
    reason: 'tests',
    requestId: randomUUID(),
    workflowTaskFinishEventId: to(events!),
  });
  return Object.assign(rig.client.workflow.getHandle(workflowId, reset.runId), { executionId: reset.runId });
}

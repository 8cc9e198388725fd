import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** Whether a workflow run in this state may still act. */
export const isOpenStatus = (status: string): boolean => status === 'RUNNING' || status === 'PAUSED';

/**
 * Whether a workflow run is open; null: the workflow's newest run. A run that Temporal does not know (any more) is not.
 */
export async function isRunOpen(client: Client, workflowId: string, runId: string | null): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId, runId ?? undefined).describe();
    return isOpenStatus(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

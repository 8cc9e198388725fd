import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** States in which a workflow run may still act. */
export const isOpenStatus = (status: string): boolean => status === 'RUNNING' || status === 'PAUSED';

/** Whether a workflow run is still open; null: the newest of the workflow. One that Temporal does not know, or has forgotten, is not. */
export async function isRunOpen(client: Client, workflowId: string, runId: string | null): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId, runId ?? undefined).describe();
    return isOpenStatus(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

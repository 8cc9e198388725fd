import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Gives each child workflow three seconds. The product gives none a limit, but a server may. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      startChildWorkflowExecution: (input, next) =>
        next({ ...input, options: { ...input.options, workflowRunTimeout: '3 seconds' } }),
    },
  ],
});

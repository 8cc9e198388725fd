import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { refuseQueriesAhead } from './loaded-ahead.ts';
import { showStatus } from './run-status.ts';
import { passTrace } from './trace-context.ts';

/** All code between the SDK and our workflows. Each bundle of them is made with this module. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  ...passTrace(),
  internals: [refuseQueriesAhead(), showStatus()],
});

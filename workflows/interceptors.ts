import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { refuseQueriesAhead } from './loaded-ahead.js';
import { passTrace } from './trace-context.js';

/** All that stands between the SDK and our workflows. Each bundle of them is made with this module. */
export const interceptors: WorkflowInterceptorsFactory = () => ({ ...passTrace(), internals: [refuseQueriesAhead()] });

import { workflowInfo } from '@temporalio/workflow';
import { unknownName } from '../src/core/text/did-you-mean.ts';
import { GRAPH_RUN_KIND, SITE_RUN_KINDS } from '../src/core/words.ts';
import { failure } from './failures.ts';

/** Ends a workflow whose type does not exist: otherwise the server would retry its first task for ever. */
export async function unknown_workflow(): Promise<never> {
  const { workflowType } = workflowInfo();
  const known = [...SITE_RUN_KINDS, GRAPH_RUN_KIND];
  throw failure('UnknownWorkflowType', unknownName('workflow type', workflowType, known));
}

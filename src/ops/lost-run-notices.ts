import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { prefixed, WORKFLOWS } from '../../workflows/protocol.ts';
import { hasClosedItself } from '../core/words.ts';
import type { AnnounceEnd } from '../runs/life.ts';
import type { TemporalAccess } from './dependencies.ts';
import { startWorkflow } from './workflow-calls.ts';

/** Sends the notice of a run that ended without sending one itself: once, by the first that finds it. */
export const announceLostRuns =
  ({ client, taskQueue, prefix }: Pick<TemporalAccess, 'client' | 'taskQueue' | 'prefix'>): AnnounceEnd =>
  async (run, end) => {
    // It has sent its own, or the run that started it does.
    if (end.outcome === 'cancelled' || hasClosedItself(end.outcome) || end.isChild) return;
    await startWorkflow(client.workflow, 'send_notice', {
      taskQueue,
      workflowId: prefixed(prefix, `${WORKFLOWS.send_notice}:${run.id}:lost`),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      input: { notice: { event: 'failed', run: { id: run.id } } },
    }).catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  };

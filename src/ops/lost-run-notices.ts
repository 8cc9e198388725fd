import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { prefixed, WORKFLOWS } from '../../workflows/protocol.ts';
import { hasClosedItself, type NoticeEvent } from '../core/words.ts';
import type { AnnounceEnd } from '../runs/life.ts';
import type { WatchRun } from '../runs/reconciler.ts';
import type { StepTimes } from '../runs/step-times.ts';
import type { TemporalAccess } from './dependencies.ts';
import { startWorkflow } from './workflow-calls.ts';

type Access = Pick<TemporalAccess, 'client' | 'taskQueue' | 'prefix'>;

/** Sends the notice of a run that ended without sending one itself. */
export const announceLostRuns =
  (access: Access): AnnounceEnd =>
  async (run, end) => {
    // It has sent its own, or the run that started it does.
    if (end.outcome === 'cancelled' || hasClosedItself(end.outcome) || end.isChild) return;
    await sendOnce(access, 'failed', run.id, 'lost');
  };

/** Sends a notice of a run whose preparations, or deployments, are stuck: once of each. */
export const announceStuckSteps =
  (access: Access, times: Pick<StepTimes, 'late'>): WatchRun =>
  async (run) => {
    const late = await times.late(run);
    const steps = new Set(late.flatMap(({ pace, step }) => (pace === 'stuck' ? [step] : [])));
    for (const step of steps) await sendOnce(access, 'stuck', run.id, `stuck-${step}`);
  };

/** By the first process that finds it. */
async function sendOnce(
  { client, taskQueue, prefix }: Access,
  event: NoticeEvent,
  run: string,
  of: string,
): Promise<void> {
  await startWorkflow(client.workflow, 'send_notice', {
    taskQueue,
    workflowId: prefixed(prefix, `${WORKFLOWS.send_notice}:${run}:${of}`),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    input: { notice: { event, run: { id: run } } },
  }).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
}

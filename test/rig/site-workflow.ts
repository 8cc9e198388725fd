import { type ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { expect } from 'vitest';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { lookAgain } from './look-again.ts';
import type { ScriptedSite } from './scripted-site.ts';
import type { TemporalRig } from './temporal.ts';

/** Starts a run of `type` on its own task queue and worker. */
export async function startRun(
  rig: TemporalRig,
  site: ScriptedSite,
  type: string,
  args: unknown[],
  options: Partial<WorkerOptions> = {},
) {
  const worker = await rig.runWorker({ taskQueue: rig.workflowId('queue'), activities: site.activities, ...options });
  const handle = await rig.client.workflow.start(type, {
    taskQueue: worker.taskQueue,
    workflowId: rig.workflowId(type),
    args,
  });
  const ended = handle.result().then(
    (result) => ({ result, failure: null as Error | null }),
    (error: unknown) => ({ result: null, failure: error as Error }),
  );
  return {
    worker,
    handle,
    ended: async () => {
      const end = await ended;
      await worker.stop();
      return end;
    },
    status: () => handle.query<RunStatus>('status'),
    report: () => handle.query<RunReport>('report'),
  };
}

/** Resolves when the run's status satisfies `wanted`. */
export async function reaches(
  run: { status: () => Promise<RunStatus> },
  wanted: (status: RunStatus) => boolean,
): Promise<RunStatus> {
  for (;;) {
    const status = await run.status();
    if (wanted(status)) return status;
    await lookAgain();
  }
}

export function causeOf(error: Error | null): ApplicationFailure {
  expect(error).toBeInstanceOf(WorkflowFailedError);
  return (error as WorkflowFailedError).cause as ApplicationFailure;
}

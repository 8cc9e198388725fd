import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { sideQueue } from '../../workflows/protocol.ts';

type Options = Omit<WorkerOptions, 'connection'>;

/** The used part of the SDK's worker, for one queue or several. */
export type PollingWorkers = Pick<Worker, 'run' | 'shutdown' | 'getState'>;

/**
 * Options of the workers of an orchestrator: one for each of its queues, with slots, pollers and, where it runs workflows, a
 * cache and a thread of its own. Work waiting in one queue delays no other.
 * @param options of the worker of `taskQueue`
 */
export function optionsOfQueues(
  options: Options & { readonly taskQueue: string },
  limits: Settings['worker'],
): Options[] {
  const { workflowBundle, ...activitiesOnly } = options;
  const ofWorkflows = (turns: number): Partial<Options> => ({
    maxConcurrentActivityTaskExecutions: limits.activity_slots,
    maxConcurrentActivityTaskPolls: limits.activity_pollers,
    maxConcurrentWorkflowTaskExecutions: turns,
    maxConcurrentWorkflowTaskPolls: Math.min(limits.workflow_pollers, turns),
    maxCachedWorkflows: limits.cached_workflows,
  });
  return [
    {
      ...activitiesOnly,
      taskQueue: sideQueue(options.taskQueue, 'machines'),
      maxConcurrentActivityTaskExecutions: limits.machine_slots,
      maxConcurrentActivityTaskPolls: limits.activity_pollers,
    },
    { ...options, ...ofWorkflows(limits.part_slots), taskQueue: sideQueue(options.taskQueue, 'parts') },
    // Last: it gets runs, which need the others.
    { ...options, ...ofWorkflows(limits.workflow_slots) },
  ];
}

/** Several workers as one: if one fails, all stop. */
export function asOne(workers: readonly Worker[]): PollingWorkers {
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    async run() {
      const running = workers.map((worker) => worker.run().finally(shutdown));
      await Promise.allSettled(running);
      await Promise.all(running);
    },
    shutdown,
    getState: () => workers.at(-1)!.getState(),
  };
}

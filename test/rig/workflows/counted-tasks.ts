import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type {
  NodeControlActivities,
  NodeTaskActivities,
  RunTask,
  TaskEnd,
} from '../../../activities/graph-contract.ts';

export const cancelTasks = defineSignal('cancel_tasks');

/** The work of `nodes`: each runs its tasks in sequence, all nodes run in parallel. */
export interface CountedTasks {
  readonly run: string;
  readonly nodes: readonly { readonly node: string; readonly queue: string }[];
  /** Task names; the orders behind them are the test's. */
  readonly tasks: readonly string[];
  readonly type?: string;
  /** Default 1, and a plan that only the test's own orders know. */
  readonly generation?: number;
  readonly plan?: string;
  readonly heartbeatMs: number;
  readonly scheduleToStartMs: number;
  /** Default 10 minutes. */
  readonly startToCloseMs?: number;
}

/** Ends by `task@node`. The smallest driver of node agents there can be: for tests of the agents alone. */
export async function countedTasks(input: CountedTasks): Promise<Record<string, TaskEnd>> {
  const ends: Record<string, TaskEnd> = {};
  const scope = new CancellationScope();
  setHandler(cancelTasks, () => scope.cancel());
  await Promise.all(
    input.nodes.map(async ({ node, queue }) => {
      const { run_task } = proxyActivities<NodeTaskActivities>({
        taskQueue: queue,
        heartbeatTimeout: input.heartbeatMs,
        scheduleToStartTimeout: input.scheduleToStartMs,
        startToCloseTimeout: input.startToCloseMs ?? 600_000,
        cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        retry: { initialInterval: 200, backoffCoefficient: 1.5, maximumInterval: 2_000 },
      });
      for (const task of input.tasks) {
        const { run, type = 'shell', generation = 1, plan = 'p' } = input;
        const request: RunTask = { run, task, node, generation, type, mode: 'apply', plan };
        ends[`${task}@${node}`] = await scope
          .run(() => run_task(request))
          .catch((error: unknown): TaskEnd => {
            if (isCancellation(error)) return { outcome: 'cancelled', message: 'before it started' };
            if (!(error instanceof ActivityFailure)) throw error;
            return { outcome: 'failed', failure_kind: 'offline', message: error.cause?.message ?? error.message };
          });
      }
    }),
  );
  return ends;
}

/** Asks a node's control queue one thing. */
export async function askControl(verb: 'ping' | 'drain', queue: string, node: string): Promise<unknown> {
  const control = proxyActivities<NodeControlActivities>({
    taskQueue: queue,
    scheduleToStartTimeout: '30 seconds',
    startToCloseTimeout: '30 seconds',
    retry: { maximumAttempts: 1 },
  });
  return await control[verb]({ node });
}

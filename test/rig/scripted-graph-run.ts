import type { GraphRunInput, GraphRunReport, GraphRunStatus } from '../../src/core/graph-run/index.js';
import { lookAgain } from './look-again.js';
import type { ScriptedGraph } from './scripted-graph.js';
import type { TemporalRig } from './temporal.js';

/** Starts `execute_graph` on its own task queue, with one worker for everything that queue serves. */
export async function startGraphRun(
  rig: TemporalRig,
  graph: ScriptedGraph,
  args: unknown[] = [{ cluster: 1 } satisfies GraphRunInput],
  taskQueue = rig.workflowId('queue'),
) {
  const worker = await rig.runWorker({ taskQueue, activities: graph.activities(taskQueue) });
  const handle = await rig.client.workflow.start('execute_graph', {
    taskQueue,
    workflowId: rig.workflowId('execute_graph'),
    args,
  });
  const ended = handle.result().then(
    (result) => ({ result, failure: null as Error | null }),
    (error: unknown) => ({ result: null, failure: error as Error }),
  );
  const status = () => handle.query<GraphRunStatus>('status');
  return {
    worker,
    handle,
    taskQueue,
    ended: async () => {
      const end = await ended;
      await worker.stop();
      return end;
    },
    status,
    report: () => handle.query<GraphRunReport>('report'),
    /** Resolves when the run's status satisfies `wanted`. */
    reaches: async (wanted: (status: GraphRunStatus) => boolean): Promise<GraphRunStatus> => {
      for (;;) {
        const now = await status();
        if (wanted(now)) return now;
        await lookAgain();
      }
    },
    update: (name: string, payload?: unknown) =>
      handle.executeUpdate<GraphRunStatus, [unknown]>(name, { args: [payload] }),
  };
}

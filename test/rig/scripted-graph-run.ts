import { activityInfo } from '@temporalio/activity';
import type { GraphRunReport, GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { GraphRunInput } from '../../src/core/graph-run/input.ts';
import { triedActivities } from '../../src/runs/run-lookups.ts';
import { lookAgain } from './look-again.ts';
import { type ScriptedGraph, type ScriptedGraphOptions, scriptedGraph } from './scripted-graph.ts';
import { ACTIVITIES_ALONE, type RunningWorker, type TemporalRig } from './temporal.ts';

/**
 * A graph whose agents outlive the workers of its run. All tasks wait for the test.
 *
 * @returns `activities`: those of the run, for its workers
 */
export async function graphWithAgents(
  rig: TemporalRig,
  options: Pick<ScriptedGraphOptions, 'plans' | 'partOf'>,
): Promise<{
  readonly graph: ScriptedGraph;
  readonly agents: RunningWorker;
  readonly activities: ReturnType<ScriptedGraph['activities']>;
}> {
  const taskQueue = rig.workflowId('nodes');
  const graph = scriptedGraph({
    ...options,
    queueOf: () => taskQueue,
    controlOf: () => taskQueue,
    // A call that is held for long must not count as dead.
    agentHeartbeatSeconds: 600,
    timeoutSeconds: 600,
  });
  graph.hold.add('all');
  const activities = graph.activities(taskQueue);
  const agents = await rig.runWorker({ ...ACTIVITIES_ALONE, taskQueue, activities });
  return { graph, agents, activities };
}

/** Starts `execute_graph` on its own task queue, with one worker for everything that queue serves. */
export async function startGraphRun(
  rig: TemporalRig,
  graph: ScriptedGraph,
  args: unknown[] = [{ cluster: 1 } satisfies GraphRunInput],
  taskQueue = rig.workflowId('queue'),
) {
  graph.overrides.find_tried ??= async () => {
    const { workflowId, runId } = activityInfo().workflowExecution!;
    return { activities: await triedActivities(rig.client, workflowId, runId) };
  };
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

import type { WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectReplay, inSomeTry, recordHistory, replayErrors } from '../rig/histories.ts';
import { lookUntil } from '../rig/look-again.ts';
import { failed, ok } from '../rig/scripted-graph.ts';
import { graphWithAgents } from '../rig/scripted-graph-run.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { bundleWithout, WORKAROUNDS } from '../rig/workflow-bundle.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/**
 * A worker that has not had a run reads its history from the start. Its core takes workflow tasks that ordered nothing together with the
 * update that follows them, and a later replay separates them: both must give the same result.
 */
async function pausedEndedResumed(last: typeof ok, more: Partial<WorkerOptions> = {}) {
  const ids = ['n0', 'n1'];
  const { graph, agents, activities } = await graphWithAgents(rig, {
    plans: {
      default: {
        nodes: ids.map((id) => ({ id, kind: 'node' })),
        tasks: ids.flatMap((node) => ['t0', 't1'].map((id) => ({ id, node, type: 'shell' }))),
        edges: ids.map((node) => [`t0@${node}`, `t1@${node}`] as const),
      },
    },
  });
  const taskQueue = rig.workflowId('queue');
  const work = () => rig.runWorker({ taskQueue, activities, ...more });
  const before = await work();
  const workflowId = rig.workflowId('execute_graph');
  const handle = await rig.client.workflow.start('execute_graph', {
    taskQueue,
    workflowId,
    args: [{ cluster: 1, hold_on_failure: true }],
  });
  const events = async () => (await handle.fetchHistory()).events ?? [];
  const ending = { n0: await graph.heldTask('t0@n0'), n1: await graph.heldTask('t0@n1') };
  await handle.executeUpdate('pause', { args: [{}] });
  for (const [node, end] of [['n1', ok] as const, ['n0', last] as const]) {
    const { length } = await events();
    ending[node].finish(end);
    await lookUntil(events, (all) => {
      const ended = all.findIndex((event, at) => at >= length && event.activityTaskCompletedEventAttributes);
      return ended >= 0 && all.slice(ended).some((event) => event.workflowTaskCompletedEventAttributes);
    });
  }
  await before.stop();
  const after = await work();
  const goesOn = async () => {
    await handle.executeUpdate('resume', { args: [{}] });
    // Its failure holds the rest.
    if (last !== ok) await handle.executeUpdate('skip_task', { args: [{ task: 't0', node: 'n0' }] });
    for (const task of ['t1@n0', 't1@n1']) (await graph.heldTask(task)).finish();
    await expect(handle.result()).resolves.toMatchObject({ outcome: 'success' });
  };
  // Without the work-around, the run itself may be stuck at its next workflow task.
  const stuck = () =>
    lookUntil(
      async () => (await handle.describe()).raw,
      ({ pendingWorkflowTask: task, workflowExecutionInfo: run }) =>
        Number(task?.attempt ?? 1) > 1 || run?.closeTime != null,
    );
  const going = goesOn();
  going.catch(() => undefined);
  await (more.workflowBundle === undefined ? going : Promise.race([going, stuck()]));
  await after.stop();
  await agents.stop();
  return handle;
}

async function replays(last: typeof ok, situation: string): Promise<void> {
  const handle = await pausedEndedResumed(last);
  const history = await recordHistory(handle, `execute_graph--${situation}`);
  await expectReplay([{ workflowId: handle.workflowId, history }]);
}

it('a run that was paused while its tasks ended is resumed by another worker', () =>
  replays(ok, 'resumed-by-another-worker'));

it('a paused run whose last task failed is resumed by another worker', () =>
  replays(failed(), 'resumed-after-a-failure'));

// Should this fail after an upgrade of the SDK, the SDK needs it no more: remove `afterResults` of workflows/run/border.ts.
it('the SDK still takes workflow tasks together that a later replay separates, so that updates come last', async () => {
  const workflowBundle = await bundleWithout(WORKAROUNDS.afterResults);
  const without = async () => {
    const handle = await pausedEndedResumed(ok, { workflowBundle });
    const histories = [{ workflowId: handle.workflowId, history: await handle.fetchHistory() }];
    await handle.terminate().catch(() => undefined);
    return replayErrors(histories, workflowBundle);
  };
  expect(await inSomeTry(without)).toMatch(/nondeterminism/i);
});

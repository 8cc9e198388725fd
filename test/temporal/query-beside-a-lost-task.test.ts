import type { WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getRun } from '../../src/ops/workflow-calls.ts';
import { expectReplay, inSomeTry, replayErrors } from '../rig/histories.ts';
import { lookUntil } from '../rig/look-again.ts';
import { failed } from '../rig/scripted-graph.ts';
import { graphWithAgents } from '../rig/scripted-graph-run.ts';
import { isServerSince, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { bundleWithout, WORKAROUNDS } from '../rig/workflow-bundle.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/** So many that some still wait when the workflow task is found among them. */
const QUERIES = 8;

/**
 * A worker that stops loses the work it has just been given: a workflow task that has started, and is retried when its
 * time is over. A query that had waited until then reaches the next worker with a history that contains the lost task.
 */
async function queriedBesideALostTask(more: Partial<WorkerOptions> = {}) {
  const { graph, agents, activities } = await graphWithAgents(rig, {
    plans: {
      default: {
        nodes: ['n0', 'n1'].map((id) => ({ id, kind: 'node' })),
        tasks: [
          { id: 'first', node: 'n0', type: 'shell' },
          { id: 'next', node: 'n0', type: 'shell' },
          // Due between the lost workflow task and the one in its place.
          { id: 'again', node: 'n1', type: 'shell', retry: { count: 1, interval: 8_000 } },
        ],
        edges: [['first@n0', 'next@n0']],
      },
    },
  });
  const taskQueue = rig.workflowId('queue');
  const work = () => rig.runWorker({ taskQueue, activities, stickyQueueScheduleToStartTimeout: 50, ...more });
  const before = await work();
  const workflowId = rig.workflowId('execute_graph');
  const handle = await rig.client.workflow.start('execute_graph', {
    taskQueue,
    workflowId,
    args: [{ cluster: 1 }],
    workflowTaskTimeout: '10 seconds',
  });
  const first = await graph.heldTask('first@n0');
  (await graph.heldTask('again@n1')).finish(failed());
  const run = getRun<'execute_graph'>(rig.client.workflow, workflowId);
  await lookUntil(
    () => run.query('status'),
    ({ counts }) => counts.retrying === 1,
  );
  await before.stop();

  void Promise.allSettled(Array.from({ length: QUERIES }, () => run.query('status')));
  const take = () =>
    rig.connection.withDeadline(Date.now() + 60_000, () =>
      rig.connection.workflowService.pollWorkflowTaskQueue({
        namespace: rig.namespace,
        taskQueue: { name: taskQueue },
        identity: 'a worker that is lost',
      }),
    );
  // On a machine so busy that the retry is due before this, the first task is no query, and this try shows nothing.
  let taken = await take();
  first.finish();
  // The queries that the worker takes on the way are lost, too.
  while (taken.query) taken = await take();

  const after = await work();
  (await graph.heldTask('next@n0')).finish();
  (await graph.heldTask('again@n1')).finish();
  await expect(handle.result()).resolves.toMatchObject({ outcome: 'success' });
  await after.stop();
  await agents.stop();
  return [{ workflowId, history: await handle.fetchHistory() }];
}

it('a run continues as recorded when a query is answered next to a lost workflow task', async () => {
  await expectReplay(await queriedBesideALostTask());
});

// With a server 1.32.2 this case does not arise (three of three runs); with those from 1.27 on, it does.
// Should this fail after an upgrade of the SDK, the SDK needs it no more: remove `refuseQueriesAhead` of workflows/run/interceptors.ts.
it.skipIf(isServerSince('1.30.0'))(
  'the SDK still executes a run ahead of its workflow task for a query, so that we refuse such queries',
  async () => {
    const workflowBundle = await bundleWithout(WORKAROUNDS.queriesAhead);
    const without = async () => replayErrors(await queriedBesideALostTask({ workflowBundle }), workflowBundle);
    expect(await inSomeTry(without)).toMatch(/nondeterminism/i);
  },
);

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

// The simulated server once lost it (seeds 80900 and 81398).
onServer('a signal that a workflow task in flight was given comes again after a reset', async () => {
  const { workflowService: server } = rig.connection;
  const { namespace } = rig;
  const taskQueue = rig.workflowId('queue');
  const workflowId = rig.workflowId('reset');
  const handle = await rig.client.workflow.start('anything', { taskQueue, workflowId });
  const take = () =>
    rig.connection.withDeadline(Date.now() + 60_000, () =>
      server.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity: 'a worker' }),
    );
  const signalsOf = ({ history }: Awaited<ReturnType<typeof take>>): (string | null | undefined)[] =>
    (history?.events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
      signal ? [signal.signalName] : [],
    );

  const first = await take();
  await server.respondWorkflowTaskCompleted({ namespace, taskToken: first.taskToken, commands: [] });
  await handle.signal('second');
  const second = await take();
  await server.respondWorkflowTaskCompleted({ namespace, taskToken: second.taskToken, commands: [] });
  await handle.signal('in flight');
  expect(signalsOf(await take())).toEqual(['second', 'in flight']);
  await server.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId: handle.firstExecutionRunId },
    // The completed task: it is decided anew.
    workflowTaskFinishEventId: first.startedEventId!.add(1),
    requestId: randomUUID(),
    reason: 'a person',
  });
  expect(signalsOf(await take())).toEqual(['second', 'in flight']);
});

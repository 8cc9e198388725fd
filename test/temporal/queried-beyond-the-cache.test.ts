import { tsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getRun } from '../../src/ops/workflow-calls.ts';
import { expectReplay } from '../rig/histories.ts';
import { scriptedGraph } from '../rig/scripted-graph.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const TASKS = Array.from({ length: 10 }, (_, at) => `t${at}`);
type Events = Awaited<ReturnType<typeof eventsOf>>;

async function eventsOf(workflowId: string) {
  const { events } = await rig.client.workflow.getHandle(workflowId).fetchHistory();
  return events!;
}

/** Tasks that report a start before the end of the task that they need: workflow time that was not the time of the history. */
function beganEarly(events: Events): string[] {
  const activities = new Map<string, string>();
  const ended = new Map<string, number>();
  const began = new Map<string, number>();
  for (const { eventId, eventTime, ...event } of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activities.set(String(eventId), scheduled.activityId!);
    if (scheduled?.activityType?.name === 'record_tasks') {
      const { rows } = JSON.parse(Buffer.from(scheduled.input!.payloads![0]!.data!).toString());
      for (const { task, started_at } of rows) if (started_at) began.set(task, Date.parse(started_at));
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) ended.set(activities.get(String(completed.scheduledEventId))!, Math.floor(tsToMs(eventTime!)));
  }
  return TASKS.slice(1).filter((task, at) => began.get(task)! < ended.get(`${TASKS[at]}@n1`)!);
}

it('runs continue as recorded while more of them are queried than the worker caches', async () => {
  const taskQueue = rig.workflowId('queue');
  const graph = scriptedGraph({
    plans: {
      default: {
        nodes: [{ id: 'n1', kind: 'node' }],
        tasks: TASKS.map((id) => ({ id, node: 'n1', type: 'shell' })),
        edges: TASKS.slice(1).map((id, at) => [`${TASKS[at]}@n1`, `${id}@n1`] as const),
      },
    },
    timeoutSeconds: 600,
  });
  const worker = await rig.runWorker({
    taskQueue,
    activities: graph.activities(taskQueue),
    maxCachedWorkflows: 1,
    stickyQueueScheduleToStartTimeout: 50,
  });
  const ids = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const workflowId = rig.workflowId('execute_graph');
      await rig.client.workflow.start('execute_graph', { taskQueue, workflowId, args: [{ cluster: 1 }] });
      return workflowId;
    }),
  );
  await Promise.all(
    ids.map(async (id) => {
      const run = getRun<'execute_graph'>(rig.client.workflow, id);
      let isOver = false;
      void (async () => {
        // The core loses a query when its run is taken from the cache while other queries wait for it: a minute until it fails.
        while (!isOver) await run.query('status').catch(() => undefined);
      })();
      const { outcome } = await run.result();
      isOver = true;
      expect(outcome).toBe('success');
    }),
  );
  await worker.stop();
  const histories = await Promise.all(
    ids.map(async (workflowId) => ({ workflowId, history: { events: await eventsOf(workflowId) } })),
  );
  expect(histories.map(({ history }) => beganEarly(history.events))).toEqual(ids.map(() => []));
  await expectReplay(histories);
});

import type { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunStatus, TreeNode } from '../../src/core/contracts/site-run.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookUntil } from '../rig/look-again.ts';
import { type EventId, type Events, resetRun } from '../rig/reset-run.ts';
import { failed, scriptedGraph } from '../rig/scripted-graph.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { causeOf } from '../rig/site-workflow.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { withHurriedChildren } from '../rig/workflow-bundle.ts';

let rig: TemporalRig;
let hurried: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
  hurried = await withHurriedChildren(rig);
});
afterAll(() => rig.close());

const plan: NamedPlan = {
  nodes: [{ id: 'n1', kind: 'node' }],
  tasks: [{ id: 'a', node: 'n1', type: 'shell' }],
  edges: [],
};

const twoTasks: NamedPlan = {
  ...plan,
  tasks: ['a', 'b'].map((id) => ({ id, node: 'n1', type: 'shell' })),
  edges: [['a@n1', 'b@n1']],
};

/** A run on a site of one node, with a cluster. */
async function start(
  kind: 'deploy_site' | 'update_site' = 'deploy_site',
  { runWorker }: TemporalRig = rig,
  tasks = plan,
) {
  const strategy = { groups: [group('one', ['n1'], { critical: true })] };
  const site = scriptedSite(strategy, plainNodes('n1'), { cluster: 7 });
  const graph = scriptedGraph({ plans: { default: tasks } });
  const taskQueue = rig.workflowId('queue');
  const worker = await runWorker({ taskQueue, activities: { ...site.activities, ...graph.activities(taskQueue) } });
  const handle = await rig.client.workflow.start(kind, {
    taskQueue,
    workflowId: rig.workflowId(kind),
    args: [{ site: 'dc1', started_by: 'nina' }],
  });
  const phase = () => (site.closed[0]!.report as RunReport).phases.at(-1)!;
  return { site, graph, worker, handle, phase };
}

it.each(['deploy_site', 'update_site'] as const)(
  '%s runs the graph of the linked cluster once the nodes are deployed',
  async (kind) => {
    const { graph, worker, handle, phase } = await start(kind);
    expect(await handle.result()).toMatchObject({ outcome: 'success' });
    expect(graph.opened[0]).toMatchObject({
      workflow_id: `execute_graph:7:${handle.firstExecutionRunId}`,
      input: { cluster: 7, graphs: [{ type: 'default' }], started_by: 'nina' },
    });
    expect(graph.began).toEqual(['a@n1']);
    expect(phase()).toMatchObject({ name: 'software', state: 'success' });
    await recordHistory(handle, `${kind}--with-software`);
    await worker.stop();
  },
);

onServer(
  'the status of a site names the run of its software with its progress; search attributes find it',
  async () => {
    const { graph, worker, handle } = await start();
    graph.hold.add('a@n1');
    const held = await graph.heldTask('a@n1');
    const id = `execute_graph:7:${handle.firstExecutionRunId}`;
    const status = await lookUntil(
      () => handle.query<RunStatus>('status'),
      ({ software }) => software?.phase === 'default: running',
    );
    expect(status.software).toMatchObject({ workflow_id: id, done: 0, total: 1, running: [{ task: 'a', node: 'n1' }] });
    const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toContain(`Software: \`${id}\` · **default: running** · 0 of 1 task`);
    const tree = await handle.query<TreeNode>('tree');
    expect(tree.children?.at(-1)).toMatchObject({ name: 'software', workflow_id: id });
    const started = await rig.client.workflow.getHandle(id).fetchHistory();
    const { searchAttributes } = started.events![0]!.workflowExecutionStartedEventAttributes!;
    expect(Object.keys(searchAttributes!.indexedFields!).sort()).toEqual(['RunPhase', 'SiteName', 'StartedBy']);
    held.finish();
    await handle.result();
    await worker.stop();
  },
);

it('a failed graph fails the site, which reports that its nodes are deployed', async () => {
  const { site, graph, worker, handle, phase } = await start();
  graph.ends.set('a@n1', [failed('no space left')]);
  const error = await handle.result().catch((caught: Error) => caught);
  const cause = causeOf(error as Error);
  expect(cause.type).toBe('SoftwareFailed');
  expect(cause.message).toContain('the nodes are deployed, but the software of cluster 7 is not');
  expect(cause.message).toContain('no space left');
  expect(phase()).toMatchObject({ name: 'software', state: 'failed' });
  expect(site.closed[0]).toMatchObject({ outcome: 'failed' });
  await worker.stop();
});

it.each([
  ['cancel', 'was cancelled'],
  ['terminate', 'was terminated'],
  ['stop', 'was stopped'],
] as const)('a graph that someone ends by %s fails the site, with a report', async (action, how) => {
  const { graph, site, worker, handle, phase } = await start('deploy_site', rig, twoTasks);
  graph.hold.add('a@n1');
  const held = await graph.heldTask('a@n1');
  const { workflow_id, run_id } = graph.opened[0]!;
  const child = rig.client.workflow.getHandle(workflow_id, run_id);
  await (action === 'stop' ? child.signal('stop') : child[action]());
  if (action === 'stop') held.finish();
  // It has ended: messages still on their way to it are lost, and harm nothing.
  await handle.signal('pause');
  await handle.signal('resume');
  const cause = causeOf(await handle.result().catch((caught: Error) => caught));
  expect(cause.type).toBe('SoftwareFailed');
  expect(cause.message).toContain(`${workflow_id} ${how}`);
  expect(phase()).toMatchObject({ name: 'software', state: 'failed' });
  expect(site.closed[0]).toMatchObject({ outcome: 'failed' });
  await worker.stop();
});

onServer('a graph that times out fails the site, with a report', async () => {
  const { graph, site, worker, handle, phase } = await start('deploy_site', hurried);
  graph.hold.add('a@n1');
  const cause = causeOf(await handle.result().catch((caught: Error) => caught));
  expect(cause.type).toBe('SoftwareFailed');
  expect(cause.message).toContain(`execute_graph:7:${handle.firstExecutionRunId} timed out`);
  expect(phase()).toMatchObject({ name: 'software', state: 'failed' });
  expect(site.closed[0]).toMatchObject({ outcome: 'failed' });
  await worker.stop();
});

it('a graph that is started again after a reset of its site is another run', async () => {
  const { graph, worker, handle } = await start();
  graph.hold.add('a@n1');
  await graph.heldTask('a@n1');
  const startOfChild = (events: Events): EventId =>
    events.find((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)!
      .startChildWorkflowExecutionInitiatedEventAttributes!.workflowTaskCompletedEventId!;
  const again = await resetRun(rig, { workflowId: handle.workflowId, runId: handle.firstExecutionRunId }, startOfChild);
  graph.hold.clear();
  expect(await again.result()).toMatchObject({ outcome: 'success' });
  const [first, second] = graph.opened;
  expect(second!.workflow_id).toBe(first!.workflow_id);
  expect(second!.run_id).not.toBe(first!.run_id);
  const replaced = rig.client.workflow.getHandle(first!.workflow_id, first!.run_id);
  expect((await replaced.describe()).status.name).not.toBe('RUNNING');
  await worker.stop();
});

it('pause and cancel reach the graph', async () => {
  const { graph, worker, handle, phase, site } = await start();
  graph.hold.add('a@n1');
  await graph.heldTask('a@n1');
  await handle.signal('pause', { by: 'nina' });
  const child = rig.client.workflow.getHandle(graph.opened[0]!.workflow_id);
  while ((await child.query<{ paused: unknown }>('status')).paused === null);
  await handle.cancel();
  const error = await handle.result().catch((caught: Error) => caught);
  expect((error as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
  expect(graph.closed[0]).toMatchObject({ outcome: 'cancelled' });
  expect(site.closed[0]).toMatchObject({ outcome: 'cancelled' });
  expect(phase()).toMatchObject({ name: 'software', state: 'stopped' });
  await worker.stop();
});

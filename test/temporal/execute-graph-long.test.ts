import type { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure, WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TreeNode } from '../../src/core/contracts/site-run.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { recordHistory } from '../rig/histories.ts';
import { failed, ok, scriptedGraph } from '../rig/scripted-graph.ts';
import { expectLegal } from '../rig/scripted-graph-checks.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { causeOf } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const keyOf = (task: number): string => `t${String(task).padStart(2, '0')}`;

/** This many tasks on one node, one after the other. */
const chain = (tasks: number, more: Partial<NamedPlan> = {}): NamedPlan => ({
  nodes: [{ id: 'n1', kind: 'node' }],
  tasks: Array.from({ length: tasks }, (_, task) => ({ id: keyOf(task), node: 'n1', type: 'shell' })),
  edges: Array.from({ length: tasks - 1 }, (_, task) => [`${keyOf(task)}@n1`, `${keyOf(task + 1)}@n1`] as const),
  ...more,
});

/** Names of the search attributes that a workflow was started with. */
async function attributesOf(workflowId: string): Promise<string[]> {
  const { events } = await rig.client.workflow.getHandle(workflowId).fetchHistory();
  const { searchAttributes } = events![0]!.workflowExecutionStartedEventAttributes!;
  return Object.keys(searchAttributes?.indexedFields ?? {}).sort();
}

/** Events of each run of a workflow, the newest last. */
async function historiesOf(workflowId: string): Promise<number[]> {
  const lengths: number[] = [];
  for (let runId: string | undefined; ; ) {
    const handle = rig.client.workflow.getHandle(workflowId, runId);
    const { events } = await handle.fetchHistory();
    lengths.unshift(events!.length);
    runId = events![0]!.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
    if (runId === undefined) return lengths;
  }
}

it('a graph that does not fit into its run runs in a child, which continues as new when its history is long', async () => {
  const [first, second] = [chain(12), chain(50)];
  const graph = scriptedGraph({ plans: { first, second }, maxEvents: 560 });
  graph.ends.set('t48@n1', [failed('no'), ok]);
  const retried = { ...second.tasks[48]!, retry: { count: 1, interval: 10 } };
  (second.tasks as (typeof retried)[])[48] = retried;
  const run = await startGraphRun(rig, graph, [{ cluster: 1, graphs: [{ type: 'first' }, { type: 'second' }] }]);
  expect((await run.ended()).result).toMatchObject({
    outcome: 'success',
    graphs: [
      { type: 'first', counts: { success: 12 } },
      { type: 'second', counts: { success: 50 } },
    ],
  });
  const of = (id: string) => graph.requests.filter((request) => request.run.startsWith(`${id}.`));
  expect(of('11').map(({ task }) => task)).toEqual(Array.from({ length: 12 }, (_, task) => keyOf(task)));
  expect(of('12')).toHaveLength(51);
  expectLegal(second, graph.events.slice(24));
  expect(graph.rows(12).size).toBe(50);
  expect(graph.rows(12).get('t48@n1')).toMatchObject({ status: 'success', attempt: 2 });
  expect(graph.closedGraphs[1]).toMatchObject({ outcome: 'success', nodes: { n1: 'success' } });
  const part = await historiesOf(`${run.handle.workflowId}/12.1`);
  expect(part.length).toBeGreaterThan(1);
  expect(await attributesOf(`${run.handle.workflowId}/12.1`)).toEqual(['GraphType', 'RunPhase', 'SiteName']);
  for (const events of [...part, ...(await historiesOf(run.handle.workflowId))]) expect(events).toBeLessThan(560);
  const written = graph.records.filter((record) => record.graph === 12).map(({ sequence }) => sequence);
  // Also across the histories of a part that continues as new.
  expect(written).toEqual([...new Set(written)].sort((one, other) => one - other));
  await recordHistory(run.handle, 'execute_graph--room-used-up');
  await recordHistory(rig.client.workflow.getHandle(`${run.handle.workflowId}/12.1`), 'run_graph_part--continued');
});

it('operators reach a part that has continued, and cancelling ends it', async () => {
  const plan = chain(56, { fault_tolerance_groups: [{ name: 'all', node_ids: ['n1'], fault_tolerance: 1 }] });
  const graph = scriptedGraph({ plans: { default: plan }, partOf: () => 0, maxEvents: 500 });
  graph.hold.add('t45@n1').add('t52@n1');
  graph.ends.set('t48@n1', [failed('no link'), ok]);
  const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_on_failure: true }]);
  const held = await graph.heldTask('t45@n1');
  const part = `${run.handle.workflowId}/11.1`;
  expect((await historiesOf(part)).length).toBeGreaterThan(1);
  expect((await run.update('pause', { by: 'nina' })).paused).toMatchObject({ by: 'nina' });
  held.finish();
  await run.reaches((status) => status.counts.running === 0);
  expect(graph.began).toHaveLength(46);
  await run.update('skip_task', { task: 't46', node: 'n1' });
  await run.update('resume');
  const failing = await run.reaches((status) => status.graphs[0]!.state === 'held');
  expect(failing.failed).toEqual([{ task: 't48', node: 'n1', attempts: 1, reason: 'no link (exit code 1)' }]);
  await run.update('retry_task', { task: 't48', node: 'n1' });
  await graph.heldTask('t52@n1');
  const [node] = await rig.client.workflow.getHandle(part).query<readonly TreeNode[]>('tree');
  expect(node).toMatchObject({ name: 'n1', detail: '51 of 55 tasks' });
  expect(graph.requests.filter(({ task }) => task === 't48').map(({ generation }) => generation)).toEqual([1, 2]);
  await run.handle.cancel();
  expect(((await run.ended()).failure as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
  expect(graph.rows().get('t52@n1')).toMatchObject({ end: { outcome: 'cancelled' } });
  expect(graph.closed[0]).toMatchObject({ outcome: 'cancelled' });
});

it('a part that breaks ends the others, also one that has continued', async () => {
  const long = chain(50);
  const plan: NamedPlan = {
    ...long,
    nodes: ['n1', 'n2'].map((id) => ({ id, kind: 'node' })),
    tasks: [...long.tasks, { id: 'other', node: 'n2', type: 'shell' }],
  };
  const graph = scriptedGraph({ plans: { default: plan }, partOf: (id) => (id === 'n1' ? 0 : 1), maxEvents: 500 });
  graph.hold.add('t45@n1').add('other@n2');
  const run = await startGraphRun(rig, graph);
  await graph.heldTask('t45@n1');
  expect((await historiesOf(`${run.handle.workflowId}/11.1`)).length).toBeGreaterThan(1);
  await rig.client.workflow.getHandle(`${run.handle.workflowId}/11.2`).terminate('by mistake');
  expect(causeOf((await run.ended()).failure).type).toBe('GraphFailed');
  expect(graph.events.filter(({ what, task }) => what === 'end' && task === 't45')).toHaveLength(1);
  expect(graph.closed[0]).toMatchObject({ outcome: 'failed' });
});

it.each([
  ['in one workflow', {}],
  ['in parts', { partOf: (id: string) => (id === 'n1' ? 0 : 1) }],
])('requests of operators are accepted while the remaining work still fits, %s', async (_shape, split) => {
  const pair: NamedPlan = {
    nodes: ['n1', 'n2'].map((id) => ({ id, kind: 'node' })),
    tasks: ['n1', 'n2'].flatMap((node) => ['a', 'b'].map((id) => ({ id, node, type: 'shell' }))),
    edges: ['n1', 'n2'].map((node) => [`a@${node}`, `b@${node}`] as const),
  };
  const graph = scriptedGraph({ plans: { default: pair }, ...split, maxEvents: 400 });
  graph.hold.add('a@n1').add('a@n2');
  const run = await startGraphRun(rig, graph);
  const tasks = [await graph.heldTask('a@n1'), await graph.heldTask('a@n2')];
  let taken = 0;
  const refusal = await (async () => {
    for (;;) {
      try {
        await run.update(taken % 2 === 0 ? 'pause' : 'resume');
        taken++;
      } catch (error) {
        return error;
      }
    }
  })();
  expect(taken).toBeGreaterThan(5);
  expect(refusal).toBeInstanceOf(WorkflowUpdateFailedError);
  expect(((refusal as WorkflowUpdateFailedError).cause as ApplicationFailure).message).toMatch(
    /history of the run is nearly full.*the signal (pause|resume) is still accepted/,
  );
  await run.handle.signal('resume');
  for (const task of tasks) task.finish();
  expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
  for (const id of ['', ...(Object.keys(split).length > 0 ? ['/11.1', '/11.2'] : [])]) {
    for (const events of await historiesOf(run.handle.workflowId + id)) expect(events).toBeLessThan(400);
  }
});

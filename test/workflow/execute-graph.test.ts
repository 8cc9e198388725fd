import type { ApplicationFailure, WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import { CancelledFailure, WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GraphRunReport } from '../../src/core/contracts/graph-run.ts';
import type { TreeNode } from '../../src/core/contracts/site-run.ts';
import { graphRunName } from '../../src/core/graph-run/title.ts';
import type { SendNotice } from '../../src/core/run/notice.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookAgain } from '../rig/look-again.ts';
import { failed, ok, type ScriptedGraphOptions, scriptedGraph } from '../rig/scripted-graph.ts';
import { expectLegal } from '../rig/scripted-graph-checks.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { causeOf } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const node = (id: string) => ({ id, kind: 'node' as const });

/**
 * Controllers 1, 2 and compute 3: net on all, db on the controllers one after the other, nova when both have a
 * database; a sync point at both ends.
 */
const six: NamedPlan = {
  nodes: [node('1'), node('2'), node('3'), { id: 'null', kind: 'sync' }],
  tasks: [
    { id: 'start', node: 'null', type: 'noop' },
    ...['1', '2', '3'].map((n) => ({ id: 'net', node: n, type: 'puppet' })),
    { id: 'db', node: '1', type: 'puppet' },
    { id: 'db', node: '2', type: 'puppet' },
    { id: 'nova', node: '3', type: 'shell' },
    { id: 'end', node: 'null', type: 'noop' },
  ],
  edges: [
    ...['1', '2', '3'].map((n) => ['start@null', `net@${n}`] as const),
    ['net@1', 'db@1'],
    ['net@2', 'db@2'],
    ['db@1', 'db@2'],
    ['net@3', 'nova@3'],
    ['nova@3', 'end@null'],
    ['db@2', 'end@null'],
  ],
  joins: [{ before: ['db@1', 'db@2'], after: ['nova@3'] }],
};

/** The same, where no node is critical. */
const tolerant = (
  groups: readonly { name: string; node_ids: string[]; fault_tolerance: number }[] = [],
): NamedPlan => ({
  ...six,
  fault_tolerance_groups: [{ name: 'all', node_ids: ['1', '2', '3'], fault_tolerance: 3 }, ...groups],
});

/** Each situation twice: driven here, and in two children. */
const shapes: readonly (readonly [string, Pick<ScriptedGraphOptions, 'partOf'>])[] = [
  ['in one workflow', {}],
  ['in parts', { partOf: (id) => (id === '3' || id === 'null' ? 1 : 0) }],
];

async function attributesOf(handle: WorkflowHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe();
  return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
}

const refusal = async (update: Promise<unknown>): Promise<string> => {
  const error = await update.then(
    () => null,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
  return ((error as WorkflowUpdateFailedError).cause as ApplicationFailure).message;
};

describe.each(shapes)('execute_graph %s', (_shape, split) => {
  const name = (situation: string) => `execute_graph--${situation}${split.partOf ? '-in-parts' : ''}`;

  it('runs every task in order, one at a time on a node, and records all of it', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    const run = await startGraphRun(rig, graph, [{ cluster: 1, started_by: 'nina' }]);
    const { result, failure } = await run.ended();
    expect(failure).toBeNull();
    expect(result).toMatchObject({ outcome: 'success', cluster: 1, transaction: 10, graphs: [{ state: 'success' }] });
    expectLegal(six, graph.events);
    expect([...graph.began].sort()).toEqual(['db@1', 'db@2', 'net@1', 'net@2', 'net@3', 'nova@3']);
    expect([...graph.pinged].sort()).toEqual(['1', '2', '3']);
    expect(graph.requests.find(({ task }) => task === 'nova')).toEqual({
      run: graphRunName(11, graph.opened[0]!.run_id),
      task: 'nova',
      node: '3',
      generation: 1,
      type: 'shell',
      mode: 'apply',
      plan: 'default',
    });
    const rows = graph.rows();
    // Tasks skipped as planned have the rows of the plan.
    expect(rows.size).toBe(6);
    expect(rows.get('nova@3')).toMatchObject({ status: 'success', attempt: 1, end: ok });
    expect(rows.get('nova@3')!.started_at! <= rows.get('nova@3')!.ended_at!).toBe(true);
    expect(graph.records.length).toBeLessThanOrEqual(4);
    expect(graph.closedGraphs).toEqual([
      {
        transaction: 10,
        graph: 11,
        outcome: 'success',
        nodes: { 1: 'success', 2: 'success', 3: 'success', null: 'success' },
        done: 6,
      },
    ]);
    expect(graph.closed).toHaveLength(1);
    expect(graph.closed[0]).toMatchObject({ transaction: 10, outcome: 'success' });
    const history = await recordHistory(run.handle, name('success'));
    if (split.partOf) {
      const children = (history.events ?? []).flatMap(
        (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
      );
      expect([...children].sort()).toEqual([`${run.handle.workflowId}/11.1`, `${run.handle.workflowId}/11.2`]);
      await recordHistory(rig.client.workflow.getHandle(`${run.handle.workflowId}/11.1`), 'run_graph_part--success');
    } else {
      const ids = (history.events ?? []).flatMap((e) => e.activityTaskScheduledEventAttributes?.activityId ?? []);
      expect(ids).toContain('nova@3');
    }
    expect(await attributesOf(run.handle)).toMatchObject({
      SiteName: 'dc1',
      RunPhase: 'success',
      GraphType: 'default',
      FailedNodes: 0,
      StartedBy: 'nina',
    });
  });

  it('a failed task blocks its dependents, and the run fails with the root cause', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.ends.set('db@1', [failed('mysql did not start', 4)]);
    const run = await startGraphRun(rig, graph);
    const { failure } = await run.ended();
    const cause = causeOf(failure);
    expect(cause.type).toBe('GraphFailed');
    expect(cause.message).toContain('db on 1 (mysql did not start (exit code 4))');
    expect(cause.message).toContain('sitewright graph execute --from 10');
    expectLegal(six, graph.events);
    expect(graph.began).not.toContain('db@2');
    expect(graph.began).not.toContain('nova@3');
    expect(graph.rows().get('db@1')).toMatchObject({ status: 'failed', attempt: 1, end: { exit_code: 4 } });
    expect(graph.closedGraphs[0]).toMatchObject({ outcome: 'failed', nodes: { 1: 'failed' } });
    const report = graph.closed[0]!.report as GraphRunReport;
    expect(report).toMatchObject({ outcome: 'failed', failure: { kind: 'graph-failed', why: 'critical' } });
    expect(report.graphs[0]!.failed_tasks).toEqual([
      { task: 'db', node: '1', attempts: 1, reason: 'mysql did not start (exit code 4)' },
    ]);
    expect(report.graphs[0]!.failed_nodes[0]).toMatchObject({
      node: '1',
      failed_tasks: ['db'],
      root_causes: [{ task: 'db', node: '1' }],
    });
    await recordHistory(run.handle, name('failed'));
  });

  it('its report says how many failures it leaves out', async () => {
    const nodes = Array.from({ length: 150 }, (_, at) => String(at + 1));
    const many: NamedPlan = {
      nodes: nodes.map(node),
      tasks: nodes.flatMap((n) => ['net', 'db'].map((id) => ({ id, node: n, type: 'shell' }))),
      edges: nodes.map((n) => [`net@${n}`, `db@${n}`] as const),
      fault_tolerance_groups: [{ name: 'all', node_ids: nodes, fault_tolerance: 150 }],
    };
    const graph = scriptedGraph({ plans: { default: many }, ...split });
    for (const n of nodes) graph.ends.set(`net@${n}`, [failed()]);
    const run = await startGraphRun(rig, graph);
    await run.ended();
    const { cut, graphs } = graph.closed[0]!.report as GraphRunReport;
    const { failed_tasks, failed_nodes, counts } = graphs[0]!;
    expect(counts).toMatchObject({ failed: 150, blocked: 150 });
    expect(cut).toEqual({ failed_omitted: 300 - failed_tasks.length - failed_nodes.length });
    expect(cut!.failed_omitted).toBeGreaterThanOrEqual(100);
  });

  it('where nodes are not critical the run continues around the failure and succeeds', async () => {
    const plan = tolerant();
    const graph = scriptedGraph({ plans: { default: plan }, ...split });
    graph.ends.set('net@1', [failed()]);
    const run = await startGraphRun(rig, graph);
    const { result } = await run.ended();
    expect(result).toMatchObject({
      outcome: 'success',
      failed: [{ task: 'net', node: '1', reason: 'exit 1 (exit code 1)' }],
    });
    expect([...graph.began].sort()).toEqual(['net@1', 'net@2', 'net@3']);
    expect(graph.rows().get('nova@3')).toMatchObject({
      status: 'blocked',
      root_cause: { task: 'net', node: '1' },
      attempt: 0,
    });
    const counts = { success: 2, failed: 1, blocked: 3, skipped: 2 };
    expect(result).toMatchObject({ graphs: [{ counts }] });
    expect(graph.closedGraphs[0]!.nodes).toEqual({ 1: 'failed', 2: 'failed', 3: 'failed', null: 'success' });
    expect(await attributesOf(run.handle)).toMatchObject({ FailedNodes: 1 });
  });

  it('more failed nodes than tolerated stop the run', async () => {
    const plan = tolerant([{ name: 'controllers', node_ids: ['1', '2'], fault_tolerance: 1 }]);
    const graph = scriptedGraph({ plans: { default: plan }, ...split });
    graph.ends.set('net@1', [failed()]);
    const run = await startGraphRun(rig, graph);
    const { failure } = await run.ended();
    expect(causeOf(failure).message).toContain('fault tolerance');
    expect(graph.closedGraphs[0]).toMatchObject({ outcome: 'failed' });
  });

  it('an ignorable error is ignored, and its dependents continue', async () => {
    const plan = {
      ...six,
      tasks: six.tasks.map((task) => (task.id === 'net' ? { ...task, fail_on_error: false } : task)),
    };
    const graph = scriptedGraph({ plans: { default: plan }, ...split });
    graph.ends.set('net@2', [failed()]);
    const run = await startGraphRun(rig, graph);
    expect((await run.ended()).result).toMatchObject({
      outcome: 'success',
      graphs: [{ counts: { ignored: 1, success: 5 } }],
    });
    expect(graph.rows().get('net@2')).toMatchObject({ status: 'ignored', end: { outcome: 'failed' } });
  });

  it('a task is retried by its policy, each attempt with its own row', async () => {
    const plan = {
      ...six,
      tasks: six.tasks.map((task) => (task.id === 'db' ? { ...task, retry: { count: 2, interval: 100 } } : task)),
    };
    const graph = scriptedGraph({ plans: { default: plan }, ...split });
    graph.ends.set('db@1', [failed('first'), { outcome: 'failed', failure_kind: 'timeout', message: 'second' }, ok]);
    const run = await startGraphRun(rig, graph);
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expectLegal(plan, graph.events);
    expect(
      graph.requests.filter(({ task, node: n }) => task === 'db' && n === '1').map((one) => one.generation),
    ).toEqual([1, 2, 3]);
    const rows = graph.records.flatMap((record) => record.rows).filter((row) => row.task === 'db' && row.node === '1');
    const last = new Map(rows.map((row) => [row.attempt, row]));
    expect(last.get(1)).toMatchObject({ status: 'retrying', end: { message: 'first' } });
    expect(last.get(2)).toMatchObject({ status: 'retrying', end: { failure_kind: 'timeout' } });
    expect(last.get(3)).toMatchObject({ status: 'success', end: ok });
    await recordHistory(run.handle, name('retried'));
  });

  it('while paused, nothing new starts and running tasks finish; resume continues', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.hold.add('net@1').add('net@2').add('net@3');
    const run = await startGraphRun(rig, graph);
    const tasks = await Promise.all(['net@1', 'net@2', 'net@3'].map((key) => graph.heldTask(key)));
    const paused = await run.update('pause', { reason: 'look first', by: 'nina' });
    expect(paused.paused).toMatchObject({ reason: 'look first', by: 'nina' });
    for (const task of tasks) task.finish();
    await run.reaches((status) => status.counts.success === 3 && status.counts.running === 0);
    expect(graph.began).toHaveLength(3);
    await run.handle.signal('pause');
    await run.update('resume', { by: 'nina' });
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expectLegal(six, graph.events);
    const { operator } = graph.closed[0]!.report as GraphRunReport;
    expect(operator.map(({ action, by }) => [action, by])).toEqual([
      ['pause', 'nina'],
      ['resume', 'nina'],
    ]);
    await recordHistory(run.handle, name('paused'));
  });

  it('a paused run does not end by itself when critical tasks fail: they can be retried', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.hold.add('net@1').add('net@2').add('net@3');
    const run = await startGraphRun(rig, graph);
    const tasks = await Promise.all(['net@1', 'net@2', 'net@3'].map((key) => graph.heldTask(key)));
    await run.update('pause', { reason: 'mirror is away', by: 'nina' });
    for (const [at, task] of tasks.entries()) task.finish(at === 0 ? failed() : ok);
    await run.reaches(({ counts }) => counts.failed === 1 && counts.success === 2 && counts.running === 0);
    graph.hold.clear();
    expect(await run.update('retry_task', { task: 'net', node: '1' })).toMatchObject({ paused: { by: 'nina' } });
    expect(graph.began).toHaveLength(3);
    await run.update('resume', { by: 'nina' });
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expect(graph.began.filter((key) => key === 'net@1')).toHaveLength(2);
    await recordHistory(run.handle, name('paused-over-failures'));
  });

  it('stop lets running tasks finish and leaves the rest undone', async () => {
    const graph = scriptedGraph({ plans: { default: six, more: six }, ...split });
    graph.hold.add('net@3');
    const run = await startGraphRun(rig, graph);
    const task = await graph.heldTask('net@3');
    await run.handle.signal('stop', { reason: 'wrong cluster' });
    await run.reaches((status) => status.stopping);
    task.finish();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'stopped', graphs: [{ state: 'stopped' }, { state: 'not_reached' }] });
    expect(graph.rows().get('net@3')).toMatchObject({ status: 'success' });
    expect(graph.rows().get('nova@3')).toMatchObject({ status: 'not_reached', attempt: 0 });
    expect(graph.planned).toEqual(['default']);
    expect(graph.closed[0]).toMatchObject({ outcome: 'stopped' });
    await recordHistory(run.handle, name('stopped'));
  });

  it('cancelling ends running tasks, waits for them, and closes the run', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.hold.add('net@1');
    const run = await startGraphRun(rig, graph);
    await graph.heldTask('net@1');
    await run.handle.cancel();
    const { failure } = await run.ended();
    expect((failure as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    expect(graph.events.filter(({ what }) => what === 'end').length).toBe(
      graph.events.filter(({ what }) => what === 'start').length,
    );
    expect(graph.rows().get('net@1')).toMatchObject({ end: { outcome: 'cancelled' } });
    expect(graph.closedGraphs).toHaveLength(1);
    expect(graph.closed[0]).toMatchObject({ outcome: 'cancelled' });
    await recordHistory(run.handle, name('cancelled'));
  });

  it('a held run waits for the operator, who retries one task and skips another', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.ends.set('net@3', [failed('no link'), ok]).set('db@1', [failed('full disk')]);
    graph.hold.add('net@1');
    const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_on_failure: true }]);
    const first = await graph.heldTask('net@1');
    // net@3 fails its critical node, so that db@1 is not tried until the node has recovered.
    const failing = await run.reaches((status) => status.counts.failed === 1);
    expect(failing.graphs[0]!.state).toBe('running');
    first.finish();
    const held = await run.reaches((status) => status.graphs[0]!.state === 'held');
    expect(held.failed).toEqual([{ task: 'net', node: '3', attempts: 1, reason: 'no link (exit code 1)' }]);
    expect(await refusal(run.update('retry_task', { task: 'nova', node: '3' }))).toMatch(
      /only a failed task can be retried/,
    );
    expect(await refusal(run.update('retry_task', { task: 'nothing', node: '3' }))).toMatch(
      /there is no task nothing@3/,
    );
    expect(await refusal(run.update('skip_task', { nope: 1 }))).toMatch(/missing field 'task'/);
    await run.update('retry_task', { task: 'net', node: '3', by: 'nina', reason: 'cable in' });
    await run.reaches(
      (status) => status.failed.some(({ task }) => task === 'db') && status.graphs[0]!.state === 'held',
    );
    const answer = await run.update('skip_task', { task: 'db', node: '1' });
    expect(answer.counts.failed).toBeLessThanOrEqual(1);
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expect(
      graph.requests.filter(({ task, node: n }) => task === 'net' && n === '3').map((one) => one.generation),
    ).toEqual([1, 2]);
    expect(graph.began).toContain('nova@3');
    expect(graph.rows().get('db@1')).toMatchObject({ status: 'skipped', end: { message: 'full disk' } });
    const { operator } = graph.closed[0]!.report as GraphRunReport;
    expect(operator.map(({ action, task, node }) => [action, task, node])).toEqual([
      ['retry_task', 'net', '3'],
      ['skip_task', 'db', '1'],
    ]);
    await recordHistory(run.handle, name('held'));
  });

  it('holds tasks until an operator approves; others continue', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_before: ['*', 'db', 'nova'] }]);
    await run.reaches((status) => status.awaiting_approval?.[0]?.before === '*');
    expect(graph.began).toEqual([]);
    await run.update('approve', { before: '*', by: 'otto' });
    await run.reaches((status) => status.awaiting_approval?.[0]?.before === 'db' && status.counts.success === 3);
    expect([...graph.began].sort()).toEqual(['net@1', 'net@2', 'net@3']);
    // In advance.
    await run.handle.signal('approve', { before: 'nova', reason: 'as always' });
    await run.update('approve', { by: 'eve', reason: 'backup is there' });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expectLegal(six, graph.events);
    expect(graph.closed[0]!.report.holds).toEqual([
      expect.objectContaining({ before: '*', decision: 'approved', by: 'otto' }),
      expect.objectContaining({ before: 'db', decision: 'approved', by: 'eve', reason: 'backup is there' }),
      { before: 'nova', decision: 'approved', decided_at: expect.any(String), reason: 'as always' },
    ]);
    await recordHistory(run.handle, name('approved'));
    if (split.partOf)
      await recordHistory(rig.client.workflow.getHandle(`${run.handle.workflowId}/11.1`), 'run_graph_part--approved');
  });

  it('ends as stopped when tasks that wait are rejected', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_before: ['end'] }]);
    // Also a task without work: it marks a place in the order.
    await run.reaches((status) => status.awaiting_approval?.[0]?.before === 'end');
    expect((await run.status()).counts.success).toBe(6);
    await run.handle.signal('reject', { reason: 'tests fail', by: 'eve' });
    const { result } = await run.ended();
    // Although no work is left.
    expect(result).toMatchObject({ outcome: 'stopped' });
    expect(graph.closed[0]!.report.reason).toBe('rejected before end by eve: tests fail');
    expect(graph.closed[0]!.report.operator).toEqual([
      { action: 'reject', at: expect.any(String), before: 'end', reason: 'tests fail', by: 'eve' },
    ]);
  });

  it('a held run sends a notice each time it is held', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.ends.set('net@3', [failed(), failed('again')]);
    const noticed: SendNotice['notice'][] = [];
    const send = async ({ notice }: SendNotice) => {
      noticed.push(notice);
      return { receivers: [], give_up_seconds: 60 };
    };
    const { activities } = graph;
    const noticing = { ...graph, activities: (queue: string) => ({ ...activities(queue), plan_notice: send }) };
    const opened = activities('any').open_graph_run;
    graph.overrides.open_graph_run = async (request) => {
      delete graph.overrides.open_graph_run;
      return { ...(await opened(request)), notices: true };
    };
    const run = await startGraphRun(rig, noticing, [{ cluster: 1, hold_on_failure: true }]);
    await run.reaches((status) => status.graphs[0]?.state === 'held');
    await run.update('retry_task', { task: 'net', node: '3' });
    while (noticed.length < 2) await lookAgain();
    await run.handle.signal('stop');
    while (noticed.length < 3) await lookAgain();
    await run.ended();
    expect(noticed.map(({ event }) => event)).toEqual(['held', 'held', 'failed']);
    expect(noticed[0]).toEqual({ event: 'held', run: { id: run.handle.firstExecutionRunId } });
    await recordHistory(run.handle, name('noticed'));
  });

  it('a held run is ended by stop', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.ends.set('net@3', [failed()]);
    const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_on_failure: true }]);
    await run.reaches((status) => status.graphs[0]?.state === 'held');
    await run.handle.signal('stop');
    const { failure } = await run.ended();
    expect(causeOf(failure).type).toBe('GraphFailed');
    expect(graph.closed[0]).toMatchObject({ outcome: 'failed' });
  });

  it('skip_task skips a waiting task', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.hold.add('net@3');
    const run = await startGraphRun(rig, graph);
    const task = await graph.heldTask('net@3');
    await run.update('skip_task', { task: 'nova', node: '3' });
    expect(await refusal(run.update('skip_task', { task: 'net', node: '3' }))).toMatch(/is running/);
    task.finish();
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expect(graph.began).not.toContain('nova@3');
  });

  it('the tree shows nodes and tasks', async () => {
    const graph = scriptedGraph({ plans: { default: six }, ...split });
    graph.hold.add('net@3');
    const run = await startGraphRun(rig, graph);
    const task = await graph.heldTask('net@3');
    const tree = await run.handle.query<TreeNode>('tree');
    const [first] = tree.children!;
    expect(first).toMatchObject({ name: 'default', kind: 'graph', state: 'running' });
    let nodes = first!.children!;
    if (split.partOf) {
      const id = nodes[1]!.workflow_id!;
      nodes = await rig.client.workflow.getHandle(id).query<readonly TreeNode[]>('tree');
    }
    const three = nodes.find((one) => one.name === '3')!;
    expect(three.children).toEqual([
      { name: 'net', kind: 'task', state: 'running' },
      { name: 'nova', kind: 'task', state: 'waiting' },
    ]);
    expect(await run.handle.query('plan')).toMatchObject([{ type: 'default', hash: 'default', tasks: 8, nodes: 4 }]);
    task.finish();
    await run.ended();
  });
});

it('execute_graph with a coordinator in a workflow of its own, which continues as new, pauses, holds, retries and succeeds', async () => {
  /** Tasks that wait for one another, in turn on either node: each end is a message from one part to the other. */
  const names = Array.from({ length: 40 }, (_, at) => ({ id: `t${at}`, node: `n${1 + (at % 2)}`, type: 'shell' }));
  const keyOf = (at: number) => `${names[at]!.id}@${names[at]!.node}`;
  const long: NamedPlan = {
    nodes: ['n1', 'n2'].map((id) => ({ id, kind: 'node' as const })),
    tasks: names,
    edges: names.slice(1).map((_, at) => [keyOf(at), keyOf(at + 1)]),
  };
  const partOf = (id: string) => (id === 'n1' ? 0 : 1);
  const graph = scriptedGraph({ plans: { default: long }, partOf, apart: true, maxEvents: 600 });
  graph.hold.add(keyOf(0));
  graph.ends.set(keyOf(39), [failed(), ok]);
  const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_on_failure: true }]);
  const task = await graph.heldTask(keyOf(0));
  expect(await run.update('pause')).toMatchObject({ paused: {} });
  task.finish();
  expect(graph.began).toHaveLength(1);
  await run.update('resume');
  const held = await run.reaches(({ phase }) => phase === 'default: held');
  expect(held).toMatchObject({ failed: [{ task: 't39', node: 'n2' }], failing_nodes: 1 });
  expect(await refusal(run.update('retry_task', { task: 't39', node: 'n3' }))).toContain('n3');
  await run.update('retry_task', { task: 't39', node: 'n2' });
  expect((await run.ended()).result).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 40 } }] });
  expect(graph.closedGraphs).toMatchObject([{ nodes: { n1: 'success', n2: 'success' } }]);
  const history = await recordHistory(run.handle, 'execute_graph--coordinated-apart');
  const messages = history.events!.filter((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes);
  expect(messages.length).toBeLessThan(10);
  const coordinator = rig.client.workflow.getHandle(`${run.handle.workflowId}/11.coordinator`);
  const last = await recordHistory(coordinator, 'coordinate_parts--continued');
  expect(last.events![0]!.workflowExecutionStartedEventAttributes!.continuedExecutionRunId).not.toBe('');
});

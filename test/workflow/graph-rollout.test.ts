import { Context } from '@temporalio/activity';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { GraphRunInput } from '../../src/core/graph-run/input.ts';
import type { WrittenRollout } from '../../src/core/rollout/policy.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookAgain } from '../rig/look-again.ts';
import { failed, ok, type ScriptedGraph, type ScriptedGraphOptions, scriptedGraph } from '../rig/scripted-graph.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { untilCancelled } from '../rig/scripted-site.ts';
import { causeOf } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const NODES = ['1', '2', '3', '4', '5'];
const CHECKS = [
  { name: 'gateway', each: 'wave', seconds: 60 },
  { name: 'metrics', each: 'node', seconds: 60 },
] as const;

/** `get` and then `use` on five nodes of a role. */
function rolledOut(
  rollout: WrittenRollout,
  checks?: ScriptedGraphOptions['checks'],
  more: Pick<ScriptedGraphOptions, 'isLimited'> = {},
): ScriptedGraph {
  const plan: NamedPlan = {
    nodes: NODES.map((id) => ({ id, kind: 'node' as const })),
    tasks: ['get', 'use'].flatMap((id) => NODES.map((node) => ({ id, node, type: 'shell' }))),
    edges: NODES.map((node) => [`get@${node}`, `use@${node}`] as const),
    rollouts: [{ role: 'compute', node_ids: NODES, rollout }],
  };
  const names = { nameOf: (id: string) => `node-${id}` };
  const plans = { default: plan };
  return scriptedGraph({ plans, ...names, offlineWaitSeconds: 1, ...(checks && { checks }), ...more });
}

type Started = Awaited<ReturnType<typeof startGraphRun>>;

const start = (graph: ScriptedGraph, more: Partial<GraphRunInput> = {}): Promise<Started> =>
  startGraphRun(rig, graph, [{ cluster: 1, ...more }]);
const statusOf = (run: Started): Promise<GraphRunStatus> => run.handle.query<GraphRunStatus>('status');
const rolloutOf = (status: GraphRunStatus) => status.graphs[0]?.rollouts?.[0];

async function reaches(run: Started, state: string): Promise<GraphRunStatus> {
  for (;;) {
    const status = await statusOf(run);
    if (rolloutOf(status)?.state === state && (state !== 'held' || status.graphs[0]!.state === 'held')) return status;
    await lookAgain();
  }
}

/** The nodes on which tasks began, in order, each with those between two looks together. */
const wavesOf = ({ began }: ScriptedGraph): string[] => {
  const first = new Map<string, number>();
  began.forEach((key, at) => {
    const node = key.split('@')[1]!;
    if (!first.has(node)) first.set(node, at);
  });
  return [...first.keys()];
};

const refusal = (update: Promise<unknown>) =>
  update.then(
    () => null,
    (error: unknown) => (error instanceof WorkflowUpdateFailedError ? error.cause : error),
  );

describe('a run of graphs on nodes with a rollout', () => {
  it('reaches them wave by wave, and asks the nodes of each after its soak', async () => {
    const graph = rolledOut({ first: 1, soak: '1s' });
    const run = await start(graph);
    const soaking = rolloutOf(await reaches(run, 'soaking'));
    expect(soaking).toMatchObject({ role: 'compute', wave: 1, waves: 3, failed: 0, limit: 1 });
    expect(graph.began).toEqual(['get@1', 'use@1']);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 10 } }] });
    const at = (task: string): number => graph.began.indexOf(task);
    for (const [earlier, later] of [
      ['2', '4'],
      ['2', '5'],
      ['3', '4'],
      ['3', '5'],
    ])
      expect(at(`use@${earlier}`)).toBeLessThan(at(`get@${later}`));
    expect(wavesOf(graph)[0]).toBe('1');
    // Before the run, and each once after the soak of its wave.
    expect(graph.pinged.toSorted()).toEqual([...NODES, ...NODES].toSorted());
    expect(graph.closed[0]!.report.graphs[0]!.rollouts).toEqual([
      {
        ...{ role: 'compute', state: 'success', wave: 3, waves: 3, failed: 0, limit: 1 },
        policy: { first: 1, growth: 'double', soak: 1, stop_at: { failed: 1 } },
      },
    ]);
    await recordHistory(run.handle, 'execute_graph--rollout');
  });

  it('starts nothing new once as many have failed as stop it, and goes on when promoted', async () => {
    const graph = rolledOut({ first: 3, stop_at: { failed: 1 } });
    graph.ends.set('get@2', [failed()]);
    graph.hold.add('get@1').add('get@3');
    const run = await start(graph);
    await graph.until(() =>
      graph.events.some(({ what, task, node }) => what === 'end' && `${task}@${node}` === 'get@2'),
    );
    for (let { failed: all } = await statusOf(run); all.length === 0; { failed: all } = await statusOf(run))
      await lookAgain();
    (await graph.heldTask('get@1')).finish(ok);
    (await graph.heldTask('get@3')).finish(ok);
    const held = await reaches(run, 'held');
    expect(rolloutOf(held)).toMatchObject({ wave: 1, waves: 2, failed: 1, limit: 1, why: 'limit' });
    expect(held).toMatchObject({ phase: 'default: held', stopping: false });
    expect(graph.began.toSorted()).toEqual(['get@1', 'get@2', 'get@3']);
    expect(await refusal(run.handle.executeUpdate('promote', { args: [{ limit: 1 }] }))).toMatchObject({
      type: 'RolloutRefused',
    });
    expect(await refusal(run.handle.executeUpdate('promote', { args: [{ group: 'ceph' }] }))).toMatchObject({
      type: 'RolloutRefused',
    });
    await run.handle.executeUpdate('promote', { args: [{ group: 'compute', by: 'nina' }] });
    await reaches(run, 'held');
    expect(graph.began.toSorted()).toEqual(['get@1', 'get@2', 'get@3', 'use@1', 'use@3']);
    await run.handle.executeUpdate('promote', { args: [{ limit: 2, by: 'nina' }] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 8, failed: 1, blocked: 1 } }] });
    expect(graph.closed[0]!.report.operator).toMatchObject([
      { action: 'promote', group: 'compute', by: 'nina' },
      { action: 'promote', limit: 2 },
    ]);
    await recordHistory(run.handle, 'execute_graph--rollout-promoted');
  });

  it('goes on by itself once the failed task was retried and its node is well', async () => {
    const graph = rolledOut({ first: 1 });
    graph.ends.set('get@1', [failed(), ok]);
    const run = await start(graph);
    expect(rolloutOf(await reaches(run, 'held'))).toMatchObject({ wave: 1, failed: 1, why: 'limit' });
    expect(graph.began).toEqual(['get@1']);
    await run.handle.executeUpdate('retry_task', { args: [{ task: 'get', node: '1' }] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 10 } }] });
    expect(graph.began.slice(0, 3)).toEqual(['get@1', 'get@1', 'use@1']);
  });

  it('ends as failed when its rollout is aborted, and starts nothing more', async () => {
    const graph = rolledOut({ first: 1 });
    graph.hold.add('use@1');
    const run = await start(graph);
    const last = await graph.heldTask('use@1');
    await run.handle.signal('abort_rollout', { by: 'nina' });
    for (; (await statusOf(run)).graphs[0]!.rollouts![0]!.state !== 'stopped'; ) await lookAgain();
    last.finish(ok);
    const { failure } = await run.ended();
    expect(causeOf(failure)).toMatchObject({ type: 'GraphFailed' });
    expect(graph.began).toEqual(['get@1', 'use@1']);
    expect(graph.closed[0]!.report).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'graph-failed', why: 'rollout' },
      next_step: expect.stringContaining('sitewright cluster move 1 --back'),
      graphs: [{ rollouts: [{ state: 'stopped', wave: 1 }] }],
    });
  });

  it('is held by an operator after its open wave, and before by an agent that does not answer until it is retried', async () => {
    const graph = rolledOut({ first: 1 });
    graph.hold.add('use@1');
    graph.silent.add('1');
    const rollouts = { compute: { first: 1 }, ceph: null };
    const run = await start(graph, { rollouts });
    expect((await reaches(run, 'held')).graphs[0]).toMatchObject({ offline: ['1'], rollouts: [{ why: 'limit' }] });
    graph.silent.clear();
    await run.handle.executeUpdate('retry_node', { args: [{ node: '1' }] });
    expect((await statusOf(run)).graphs[0]).toMatchObject({ offline: [] });
    const last = await graph.heldTask('use@1');
    await run.handle.executeUpdate('hold', { args: [{ by: 'nina' }] });
    last.finish(ok);
    expect(rolloutOf(await reaches(run, 'held'))).toMatchObject({ wave: 1, why: 'operator' });
    await run.handle.executeUpdate('promote');
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(graph.closed[0]!.report.overridden).toEqual({ rollouts });
  });

  it('is held when an agent does not answer after the soak: nobody knows that its node is well', async () => {
    const graph = rolledOut({ first: 1, soak: '1s' });
    const run = await start(graph);
    await reaches(run, 'soaking');
    graph.silent.add('1');
    expect(rolloutOf(await reaches(run, 'held'))).toMatchObject({ wave: 1, failed: 0, why: 'unseen' });
    expect(graph.began).toEqual(['get@1', 'use@1']);
    graph.silent.clear();
    await run.handle.executeUpdate('promote');
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
  });

  it('asks its checks after each wave, and is held by one that is not well until it is promoted', async () => {
    const graph = rolledOut(
      { first: 1, checks: ['gateway', 'metrics'], stop_at: { failed: 3 } },
      { site: 'dc1', revision: 4, checks: CHECKS },
    );
    const asked: string[] = [];
    graph.overrides.run_check = async ({ check, nodes, cluster, revision }) => {
      asked.push(`${check} of ${cluster}/${revision} ${nodes?.join(' ') ?? 'once'} after ${graph.began.length}`);
      if (check === 'gateway' && asked.length < 3) return { unwell: [{ verdict: 'unknown', text: 'gone', nodes: [] }] };
      const at = nodes?.indexOf('2') ?? -1;
      return { unwell: at < 0 ? [] : [{ verdict: 'failed', text: 'HTTP 503', nodes: [at] }] };
    };
    const run = await start(graph);
    expect(rolloutOf(await reaches(run, 'held'))).toMatchObject({ wave: 1, failed: 0, why: 'checks' });
    expect(asked.toSorted()).toEqual(['gateway of 1/4 once after 2', 'metrics of 1/4 1 after 2']);
    await run.handle.executeUpdate('promote');
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 10 } }] });
    expect(asked).toContain('metrics of 1/4 1 2 3 after 6');
    expect(asked).toContain('metrics of 1/4 1 2 3 4 5 after 10');
    expect(graph.closed[0]!.report.graphs[0]!.rollouts).toMatchObject([
      { failed: 1, checks: [{ verdict: 'well' }, { name: 'metrics', verdict: 'failed', nodes: 1, text: 'HTTP 503' }] },
    ]);
    await recordHistory(run.handle, 'execute_graph--rollout-checks');
  });

  it('has the nodes of the wave ask in a graph of the run, which has their cluster', async () => {
    const metrics = { name: 'metrics', each: 'node', seconds: 60, on_nodes: 'together' } as const;
    const graph = rolledOut(
      { first: 1, checks: ['metrics'], stop_at: { failed: 2 } },
      { site: 'dc1', revision: 4, checks: [metrics] },
      { isLimited: true },
    );
    const asked: unknown[] = [];
    const permitted = new Set<string>();
    graph.overrides.take_permits = async ({ wants }) => {
      permitted.add(String(Context.current().info.workflowType));
      return { granted: wants, waits: [] };
    };
    graph.overrides.run_check = async ({ nodes, ran }) => {
      asked.push([nodes, ran?.graphs]);
      return { unwell: asked.length === 1 ? [{ verdict: 'failed', text: 'exit 1', nodes: [0] }] : [] };
    };
    const run = await start(graph);
    expect(rolloutOf(await reaches(run, 'held'))).toMatchObject({ wave: 1, failed: 1, why: 'unproven' });
    expect(graph.began).toEqual(['get@1', 'use@1', 'check-1@1']);
    expect(graph.requests.at(-1)).toMatchObject({ run: expect.stringMatching(/^1001\b/), output: true, mode: 'apply' });
    expect(graph.closedGraphs).toMatchObject([{ graph: 1001, outcome: 'success', done: 1 }]);
    expect(rolloutOf(await statusOf(run))).toMatchObject({ unwell: ['node-1'] });
    expect(await refusal(run.handle.executeUpdate('retry_node', { args: [{ node: '2' }] }))).toMatchObject({
      type: 'TaskRequestRefused',
    });
    await run.handle.executeUpdate('retry_node', { args: [{ node: '1', tasks: true, by: 'nina' }] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 10 } }] });
    expect(graph.began.slice(3, 6)).toEqual(['get@1', 'use@1', 'check-1@1']);
    expect(asked.slice(1, 3)).toEqual([
      [['1'], [1002]],
      [['1', '2', '3'], [1003]],
    ]);
    expect(graph.closedGraphs.at(-1)!.nodes).toMatchObject({ 1: 'success' });
    await recordHistory(run.handle, 'execute_graph--rollout-checks-on-nodes');
    // Who only asks needs no permits.
    expect([...permitted]).toEqual(['execute_graph']);
  });

  it('is held when nobody can ask its checks any more', async () => {
    const graph = rolledOut({ first: 1, checks: ['gateway'] });
    const run = await start(graph);
    const held = rolloutOf(await reaches(run, 'held'));
    expect(held).toMatchObject({ why: 'checks', checks: [{ name: 'gateway', verdict: 'unknown' }] });
    await run.handle.signal('abort_rollout');
    expect(causeOf((await run.ended()).failure)).toMatchObject({ type: 'GraphFailed' });
  });

  it.each(['stop', 'promote'] as const)('waits for no answer of a check after %s', async (action) => {
    const graph = rolledOut({ first: 5, checks: ['gateway'] }, { site: 'dc1', revision: 4, checks: CHECKS });
    graph.overrides.run_check = () => untilCancelled();
    const run = await start(graph);
    await reaches(run, 'checking');
    await (action === 'stop' ? run.handle.signal('stop') : run.handle.executeUpdate('promote'));
    const { result, failure } = await run.ended();
    expect(result?.outcome ?? 'stopped').toBe(action === 'stop' ? 'stopped' : 'success');
    if (action === 'promote') expect(failure).toBeNull();
  });

  it('tells Temporal that it is held', async () => {
    const graph = rolledOut({ first: 1 });
    graph.ends.set('get@1', [failed()]);
    const run = await start(graph);
    await reaches(run, 'held');
    const phase = async (): Promise<unknown> => {
      const { typedSearchAttributes } = await run.handle.describe();
      return typedSearchAttributes.getAll().find(({ key }) => key.name === 'RunPhase')?.value;
    };
    for (; (await phase()) !== 'held'; ) await lookAgain();
    await run.handle.signal('stop');
    const { failure } = await run.ended();
    expect(causeOf(failure)).toMatchObject({ type: 'GraphFailed' });
    expect(graph.began).toEqual(['get@1']);
  });
});

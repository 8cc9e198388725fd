import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { OrderRefused } from '../../../src/agent/index.ts';
import { graphReportText } from '../../../src/cli/views/graph-report.ts';
import { plannerHere } from '../../../src/clusters/planning/index.ts';
import { readClusterSources, readGraphLayers } from '../../../src/clusters/read-sources.ts';
import type { GraphRunReport } from '../../../src/core/contracts/graph-run.ts';
import type { GraphRunInput } from '../../../src/core/graph-run/input.ts';
import type { ExecutablePart } from '../../../src/core/graph-run/plan-reference.ts';
import { recordsLost } from '../../../src/core/graph-run/report.ts';
import { NO_TASKS } from '../../../src/core/graph-run/task-counts.ts';
import type { TaskRow } from '../../../src/core/graph-run/task-end.ts';
import { graphRunName } from '../../../src/core/graph-run/title.ts';
import type { RunTask } from '../../../src/core/task-on-node.ts';
import { closeGone } from '../../../src/runs/life.ts';
import { storeOrderBook } from '../../../worker/parts/gateway-orders.ts';
import { startGate } from '../../../worker/parts/start-gate.ts';
import { storeOrders } from '../../../worker/parts/store-orders.ts';
import {
  AT,
  type GraphWorld,
  graphReport,
  graphWorld,
  loadWhole,
  planOf,
  row,
  type WorldOptions,
} from './graph-world.ts';

const root = new URL('../../../', import.meta.url);

const shell = (id: string, more: object = {}) => ({
  id,
  type: 'shell',
  version: '2.1.0',
  roles: ['compute'],
  parameters: { cmd: `echo ${id}`, timeout: 60 },
  ...more,
});

const twoNodes = async (site?: string) => {
  const world = await graphWorld({ nodes: [['compute'], ['compute']], ...(site === undefined ? {} : { site }) });
  await world.upload([shell('a'), shell('b', { requires: ['a'], condition: { yaql_exp: 'changed($.setting)' } })]);
  await world.store.clusters.update(world.cluster, {
    attributes: { editable: { common: { setting: { value: 1 } } } },
  });
  return world;
};

describe('opening a run', () => {
  it('writes its transactions, and answers the same when asked again', async () => {
    const world = await twoNodes();
    const first = await world.start({ mode: 'apply' });
    expect(await world.start({ mode: 'apply' })).toEqual(first);
    expect(first.graphs.map(({ type }) => type)).toEqual(['default']);
    const { run, graphs } = await world.store.transactions.getRun(first.transaction);
    expect([run.status, graphs[0]!.status]).toEqual(['running', 'waiting']);
    // Expressions of tasks read the status from before the run; the API derives `deployment` from the claim.
    expect((await world.store.clusters.brief(world.cluster)).status).toBe('new');
  });

  it('is refused for an unknown cluster, and for one that another run has', async () => {
    const world = await twoNodes();
    expect((await world.refused({ cluster: 999 })).kind).toBe('cluster-not-found');
    await world.start();
    expect(await world.refused({}, 'run-2')).toMatchObject({ kind: 'cluster-busy', holder: 'execute_graph:1:run-1' });
  });

  it('lists a refused run, unless who started it waits for the answer', async () => {
    const world = await twoNodes();
    await world.store.claims.claim(
      { cluster: world.cluster },
      { workflowId: 'w', runId: 'other', executionId: 'other' },
    );
    world.open.add('other');
    const input = { cluster: world.cluster };
    const answered = { workflow_id: 'w', run_id: 'answered', started_at: AT, input, answered: true };
    expect(await world.open_graph_run(answered)).toMatchObject({ ok: false, failure: { kind: 'cluster-busy' } });
    expect((await world.refused({}, 'unanswered')).kind).toBe('cluster-busy');
    const { items } = await world.store.runs.list({ kind: 'execute_graph' });
    expect(items).toMatchObject([
      { id: 'unanswered', outcome: 'failed', phase: 'finished', labels: { cluster: String(world.cluster) } },
    ]);
    expect(await world.store.runs.getReport(items[0]!.id)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('is in use by w'),
    });
  });

  it('has the number of its transaction, also when a try before was refused and its answer was lost', async () => {
    const world = await twoNodes();
    const holder = { workflowId: 'w', runId: 'other', executionId: 'other' };
    await world.store.claims.claim({ cluster: world.cluster }, holder);
    world.open.add('other');
    expect((await world.refused()).kind).toBe('cluster-busy');
    await world.store.claims.release({ cluster: world.cluster }, holder);
    const { transaction } = await world.start();
    expect(await world.store.runs.get('run-1')).toMatchObject({ number: transaction, outcome: null });
  });

  it('takes a cluster over from a workflow that was terminated, and ends its transaction', async () => {
    const world = await twoNodes();
    const before = await world.start();
    world.open.delete('run-1');
    const started = await world.start({}, 'run-2');
    expect(started.transaction).not.toBe(before.transaction);
    expect((await world.store.transactions.get(before.transaction)).status).toBe('terminated');
    expect((await world.store.claims.holder({ cluster: world.cluster }))?.runId).toBe('run-2');
    expect(await world.store.runs.get('run-1')).toMatchObject({ outcome: 'terminated', phase: 'finished' });
    expect(await world.store.runs.getReport('run-1')).toMatchObject({ outcome: 'terminated', reason: 'by the test' });
    expect(await world.store.runs.get('run-2')).toMatchObject({ outcome: null });
  });

  it('resolves a sequence of the cluster’s release', async () => {
    const world = await twoNodes();
    await world.upload([shell('a')], 'provision');
    const { id } = await world.store.sequences.create({
      name: 's',
      releaseId: world.release,
      graphs: [{ type: 'provision' }, { type: 'default', tasks: ['a'] }],
    });
    expect((await world.start({ sequence: id })).graphs.map(({ type }) => type)).toEqual(['provision', 'default']);
  });

  it('with an unknown sequence leaves the cluster free', async () => {
    const world = await twoNodes();
    expect(await world.refused({ sequence: 77 })).toMatchObject({ kind: 'request-refused', code: 'not-found' });
    expect(await world.store.claims.holder({ cluster: world.cluster })).toBeNull();
  });

  it('goes beyond no limit unless the API has started it, or the run of a site that does so', async () => {
    const world = await twoNodes();
    const more = { started_by: 'mallory', override_limits: 'I can' };
    expect(await world.refused(more)).toMatchObject({
      kind: 'request-refused',
      errors: [{ code: 'limits.override-refused', path: 'override_limits' }],
    });
  });
});

describe('planning a graph', () => {
  it.each([
    ['a run stores changed role tags as tags of its nodes', 'apply', ['compute', 'swift']],
    ['a dry run does not', 'dry_run', ['compute']],
  ] as const)('%s', async (_, mode, stored) => {
    const world = await twoNodes();
    await world.upload([shell('on-swift', { roles: undefined, tags: ['swift'] })]);
    const roleTags = { compute: ['compute'] };
    const release = await world.store.releases.get(world.release);
    await world.store.nodes.updateMany(world.nodes.map((id) => ({ id, change: { roleTags } })));
    await world.store.releases.update(world.release, {
      rolesMetadata: { ...release.rolesMetadata, compute: { name: 'Compute', tags: ['compute', 'swift'] } },
    });
    await world.store.tags.assign(world.cluster, [
      { nodeId: world.nodes[0]!, tag: 'compute', source: 'role', role: 'compute' },
    ]);
    const started = await world.start({ mode });
    const request = { transaction: started.transaction, graph: started.graphs[0]!.transaction, room: 2_500 };
    for (const _again of [1, 2]) expect(planOf(await world.plan_graph(request))).toMatchObject({ tasks: 2 });
    const tags = await world.store.tags.assignments(world.cluster, { nodeIds: [world.nodes[0]!] });
    expect(tags.map(({ tag }) => tag)).toEqual(stored);
    expect((await world.store.nodes.get(world.nodes[1]!)).roleTags).toEqual({ compute: stored });
  });

  /** Ways to the order of a task of a new run; Temporal reports whether the run is open. */
  const orders = async (given?: GraphWorld, workflow?: string) => {
    const world = given ?? (await twoNodes());
    const started = await world.start({}, workflow);
    const graph = started.graphs[0]!.transaction;
    const plan = planOf(await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 }));
    const { run } = await world.store.transactions.getRun(graph);
    const key = {
      run: graphRunName(graph, run.temporalRunId!),
      task: 'a',
      node: String(world.nodes[0]),
      generation: 1,
    };
    const temporal = { isOpen: false };
    const gate = startGate(world.store, {
      hold: async () => ({ paused: null, stopping: false }),
      execution: async (_workflow, runId) => ({
        runId: runId ?? '',
        isOpen: temporal.isOpen,
        children: [],
        errors: {},
      }),
    });
    const alarms: string[] = [];
    const book = storeOrderBook(world.store, { ...gate, hasStarted: async (_run, task) => task === 'a' });
    const direct = storeOrders({
      store: world.store,
      orders: book,
      async alarms({ kind }) {
        alarms.push(kind);
      },
      logs: { append: () => undefined },
      secrets: { name: 'none', read: async () => ({ kind: 'absent' }) },
      sources: { read: () => Promise.reject(new Error('none')) },
    })({ site: `cluster-${world.cluster}`, node: key.node });
    const fetch = (more: Partial<RunTask> = {}) =>
      direct.fetch({ ...key, plan: plan.hash, type: 'shell', mode: 'apply', ...more });
    return {
      world,
      started,
      graph,
      key,
      temporal,
      fetch,
      alarms,
      book,
    };
  };

  it('of a run that was found terminated hands its tasks out again after a reset, but not those of an ended graph', async () => {
    const { world, started, graph, key, temporal, fetch, book } = await orders();
    const end = { outcome: 'terminated', at: new Date() } as const;
    const terminated = () => closeGone({ store: world.store, end: async () => end });
    await terminated();
    await expect(fetch()).rejects.toThrow(`run ${key.run} has ended`);
    expect(await book.find(key)).toMatchObject({ closed: expect.any(String) });
    temporal.isOpen = true;
    expect(await book.find(key)).toMatchObject({ closed: undefined });
    expect((await fetch()).execution).toMatchObject({ task: 'a' });
    // Who looks writes nothing: the run opens its record again with its next step.
    expect(await world.store.runs.get(started.run)).toMatchObject({ outcome: 'terminated' });
    await world.start({}, started.run);
    expect(await world.store.transactions.getRun(graph)).toMatchObject({
      run: { status: 'running' },
      graphs: [{ status: 'running' }],
    });
    await world.store.transactions.update(graph, { status: 'success' });
    await terminated();
    await expect(fetch()).rejects.toThrow(`run ${key.run} has ended`);
    expect(await book.find(key)).toMatchObject({ closed: expect.any(String) });
  });

  it('allows its tasks to be handed out only while its run holds the cluster, by store and gateway', async () => {
    const { world, key, fetch, book } = await orders();
    expect((await fetch()).execution).toMatchObject({ task: 'a', parameters: { cmd: 'echo a' } });
    expect(await book.find(key)).toMatchObject({ closed: undefined });
    const holder = { workflowId: `execute_graph:${world.cluster}:run-1`, runId: 'run-1', executionId: 'run-1' };
    const other = { workflowId: 'execute_graph:other', runId: 'run-2', executionId: 'run-2' };
    await world.store.claims.takeOver({ cluster: world.cluster }, holder, other);
    await expect(fetch()).rejects.toThrow(/run .* does not hold cluster \d+: execute_graph:other does/);
    expect(await book.find(key)).toMatchObject({ closed: expect.any(String) });
    await world.store.claims.release({ cluster: world.cluster }, other);
    await expect(fetch()).rejects.toThrow('no run does');
    expect(await book.find(key)).toMatchObject({ closed: expect.any(String) });
  });

  it('gives an agent with the store only what its run has started: no dry run’s plan, other mode, or later attempt', async () => {
    const world = await twoNodes();
    await world.upload([shell('danger')], 'rehearsed');
    const rehearsed = await world.start({ graphs: [{ type: 'rehearsed' }], mode: 'dry_run' });
    const request = { transaction: rehearsed.transaction, graph: rehearsed.graphs[0]!.transaction, room: 2_500 };
    const dry = planOf(await world.plan_graph(request));
    await world.close(rehearsed);
    const { fetch, key, alarms } = await orders(world, 'run-2');
    await expect(fetch({ task: 'danger', plan: dry.hash })).rejects.toThrow(OrderRefused);
    const own = graphRunName(request.graph, 'run-1');
    await expect(fetch({ run: own, task: 'danger', plan: dry.hash })).rejects.toThrow(OrderRefused);
    expect(alarms).toEqual(['no-order', 'no-order']);
    await expect(fetch({ plan: dry.hash })).rejects.toThrow(OrderRefused);
    await expect(fetch({ mode: 'noop' })).rejects.toThrow(OrderRefused);
    await expect(fetch({ generation: 3 })).rejects.toThrow(OrderRefused);
    // Its run may be about to start it, so the agent asks again.
    await expect(fetch({ task: 'b' })).rejects.not.toThrow(OrderRefused);
    expect(alarms.slice(2)).toEqual(['other-task', 'other-task', 'generation', 'not-started']);
    expect((await fetch()).execution).toMatchObject({ ...key, parameters: { cmd: 'echo a' } });
  });

  it('stores parts, orders, history and snapshots, and answers the same when asked again', async () => {
    const world = await twoNodes();
    const started = await world.start();
    const request = { transaction: started.transaction, graph: started.graphs[0]!.transaction, room: 2_500 };
    const plan = planOf(await world.plan_graph(request));
    expect(plan).toMatchObject({ tasks: 4, nodes: 2, mode: 'apply', coordination: null });
    expect(planOf(await world.plan_graph(request))).toEqual(plan);
    const part = await loadWhole<ExecutablePart>(world, plan.hash, 0, plan.parts[0]!.chunks);
    expect(part.graph.nodes).toEqual(world.nodes.map(String));
    expect(part.queues).toEqual(world.nodes.map((id) => `node.cluster-${world.cluster}.${id}`));
    expect(part.controls).toEqual(part.queues.map((queue) => `${queue}.ctl`));
    expect(part.types).toEqual(['shell']);
    expect(part.timeouts).toEqual([65]);
    const order = await world.store.plans.getOrder(plan.hash, String(world.nodes[0]), 'a');
    expect(order).toMatchObject({
      uid: String(world.nodes[0]),
      type: 'shell',
      parameters: { cmd: 'echo a', cwd: '/' },
    });
    const rows = await world.store.taskHistory.list(request.graph);
    expect(rows.map(({ task, node, status }) => `${task}@${node} ${status}`)).toEqual(
      ['a', 'b'].flatMap((task) => world.nodes.map((node) => `${task}@${node} waiting`)),
    );
    expect(
      JSON.parse((await world.store.transactions.getSnapshot(request.graph, 'deployment_info'))!).common.setting,
    ).toBe(1);
  });

  it('moves a graph that does not fit into its run to a child, and repeats that when asked again', async () => {
    const world = await twoNodes();
    const started = await world.start();
    const request = { transaction: started.transaction, graph: started.graphs[0]!.transaction, room: 2_500 };
    // Four tasks, and two nodes to ping.
    const plan = planOf(await world.plan_graph({ ...request, room: 5 }));
    expect(plan).toMatchObject({ tasks: 4, parts: [{ tasks: 4, nodes: 2 }], coordination: { chunks: 1 } });
    const part = await loadWhole<ExecutablePart>(world, plan.hash, 0, plan.parts[0]!.chunks);
    expect(part.graph.part).toMatchObject({ index: 0, count: 1 });
    expect(await loadWhole(world, plan.hash, 'coordination', 1)).toMatchObject({ parts: 1, joins: [], tasks: [] });
    expect(planOf(await world.plan_graph({ ...request, room: 6 }))).toEqual(plan);
  });

  it('uses the names of a site’s nodes in queues and in orders', async () => {
    const world = await twoNodes('dc1');
    const started = await world.start();
    const plan = planOf(
      await world.plan_graph({ transaction: started.transaction, graph: started.graphs[0]!.transaction, room: 2_500 }),
    );
    const part = await loadWhole<ExecutablePart>(world, plan.hash, 0, plan.parts[0]!.chunks);
    expect(part.queues).toEqual(['node.dc1.rack-1', 'node.dc1.rack-2']);
    expect(part.agents).toEqual(['rack-1', 'rack-2']);
    for (const task of ['a', 'b']) expect(await world.store.plans.getOrder(plan.hash, 'rack-1', task)).toBeDefined();
  });

  it('records in the history why a task will not run', async () => {
    const world = await twoNodes();
    await world.upload([shell('a', { condition: { yaql_exp: '$.setting = 2' } }), shell('b')]);
    const started = await world.start();
    const graph = started.graphs[0]!.transaction;
    await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 });
    const [first] = await world.store.taskHistory.list(graph, { tasks: ['a'] });
    expect(first).toMatchObject({ status: 'skipped', message: 'condition is false: $.setting = 2; $.setting = 1' });
  });

  it('refuses an invalid graph, each problem with its place', async () => {
    const world = await twoNodes();
    await world.upload([shell('a', { requires: ['b'] }), shell('b', { requires: ['a'] })]);
    const started = await world.start();
    const answer = await world.plan_graph({
      transaction: started.transaction,
      graph: started.graphs[0]!.transaction,
      room: 2_500,
    });
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'plan-refused' } });
    expect(JSON.stringify(answer)).toContain(`a@${world.nodes[0]} -> b@`);
  });

  it('refuses a type that lost its graph since the run was opened', async () => {
    const world = await twoNodes();
    await world.upload([shell('a')], 'later');
    const started = await world.start({ graphs: [{ type: 'later' }] });
    const [graph] = await world.store.graphs.list({ types: ['later'] });
    await world.store.graphs.delete(graph!.id);
    const answer = await world.plan_graph({
      transaction: started.transaction,
      graph: started.graphs[0]!.transaction,
      room: 2_500,
    });
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'graph-not-found', type: 'later' } });
  });

  it('plans nothing, without failing, when the filter selects no node', async () => {
    const world = await twoNodes();
    await world.upload([shell('a')], 'deletion', { nodeFilter: '$.pending_deletion' });
    const started = await world.start({ graphs: [{ type: 'deletion' }] });
    const plan = planOf(
      await world.plan_graph({ transaction: started.transaction, graph: started.graphs[0]!.transaction, room: 2_500 }),
    );
    expect(plan).toMatchObject({ tasks: 0, nodes: 0, parts: [], warnings: [] });
    const reason = 'node left out: it does not match the node filter: $.pending_deletion';
    expect(plan.nothing_to_do).toContainEqual({ reason, count: 2 });
  });
});

describe('a complete run', () => {
  const run = async (world: Awaited<ReturnType<typeof twoNodes>>, name: string, input = {}) => {
    const started = await world.start(input, name);
    const graph = started.graphs[0]!.transaction;
    const plan = planOf(await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 }));
    const of = { transaction: started.transaction, graph, part: 0 };
    return { started, graph, plan, of };
  };

  it('that succeeds makes nodes ready, and the next one sees nothing changed', async () => {
    const world = await twoNodes();
    const { started, graph, of } = await run(world, 'run-1');
    const [one, two] = world.nodes as [number, number];
    const rows = ['a', 'b'].flatMap((task) => [one, two].map((node) => row(task, node, 'success')));
    await world.record_tasks({ ...of, sequence: 1, rows });
    await world.record_tasks({ ...of, sequence: 1, rows });
    const closing = {
      transaction: started.transaction,
      graph,
      outcome: 'success' as const,
      nodes: { success: [String(one), String(two)] },
      done: 4,
    };
    await world.close_graph(closing);
    await world.close_graph(closing);
    await world.close(started);
    await world.close(started);
    expect((await world.store.nodes.list({ clusterId: world.cluster })).map(({ status }) => status)).toEqual([
      'ready',
      'ready',
    ]);
    expect((await world.store.clusters.brief(world.cluster)).status).toBe('operational');
    expect((await world.store.transactions.get(started.transaction)).status).toBe('success');
    expect(await world.store.claims.holder({ cluster: world.cluster })).toBeNull();

    const again = await run(world, 'run-2');
    const skipped = await world.store.taskHistory.list(again.graph, { statuses: ['skipped'] });
    expect(skipped.map(({ task }) => task)).toEqual(['b', 'b']);
    await world.close(again.started, 'stopped');

    const forced = await run(world, 'run-3', { force: true });
    expect(await world.store.taskHistory.count(forced.graph)).toEqual({ waiting: 4 });
  });

  it('that fails on one node has the reason, and can be continued from there', async () => {
    const world = await twoNodes();
    const { started, graph, of } = await run(world, 'run-1');
    const [one, two] = world.nodes as [number, number];
    await world.record_tasks({
      ...of,
      sequence: 2,
      rows: [
        row('a', one, 'success'),
        row('b', one, 'success'),
        row('a', two, 'failed', { end: { outcome: 'failed', message: 'exit code 1', exit_code: 1 } }),
        row('b', two, 'blocked', { attempt: 0, root_cause: { task: 'a', node: String(two) } }),
      ],
    });
    // A late batch changes nothing.
    await world.record_tasks({ ...of, sequence: 1, rows: [row('a', two, 'running')] });
    await world.close_graph({
      transaction: started.transaction,
      graph,
      outcome: 'failed',
      reason: `a@${two} failed`,
      nodes: { [one]: 'success', [two]: 'failed' },
      done: 0,
    });
    await world.close(started, 'failed');
    const [, second] = await world.store.nodes.list({ clusterId: world.cluster });
    expect(second).toMatchObject({
      status: 'error',
      errorType: 'deploy',
      errorMsg: `Task a failed on node rack-${two}: exit code 1`,
    });
    expect((await world.store.clusters.brief(world.cluster)).status).toBe('partially_deployed');
    const [failed] = await world.store.taskHistory.list(graph, { statuses: ['failed'] });
    expect(failed).toMatchObject({ task: 'a', attempts: 1, message: 'exit code 1', summary: { exit_code: 1 } });

    const next = await run(world, 'run-2', { from: started.transaction });
    const left = await world.store.taskHistory.list(next.graph, { statuses: ['waiting'] });
    expect(left.map(({ task, node }) => `${task}@${node}`)).toEqual([`a@${two}`, `b@${two}`]);
  });

  /** A whole run of the graph, with these rows at its end. */
  const through = async (
    world: Awaited<ReturnType<typeof twoNodes>>,
    name: string,
    outcome: 'success' | 'failed' | 'stopped',
    rows: readonly TaskRow[],
    nodes: Readonly<Record<number, 'success' | 'failed' | 'not_reached'>>,
  ) => {
    const { started, graph, of } = await run(world, name);
    await world.record_tasks({ ...of, sequence: 1, rows });
    const done = rows.filter(({ status }) => status === 'success' || status === 'failed').length;
    await world.close_graph({ transaction: started.transaction, graph, outcome, nodes, done });
    await world.close(started, outcome);
  };
  const both = (world: Awaited<ReturnType<typeof twoNodes>>, name: string) => {
    const [one, two] = world.nodes as [number, number];
    const rows = ['a', 'b'].flatMap((task) => [one, two].map((node) => row(task, node, 'success')));
    return through(world, name, 'success', rows, { [one]: 'success', [two]: 'success' });
  };
  /** Tasks that the next run leaves out, as nothing they are about has changed. */
  const unchanged = async (world: Awaited<ReturnType<typeof twoNodes>>, name: string) => {
    const next = await run(world, name);
    const rows = await world.store.taskHistory.list(next.graph, { statuses: ['skipped'] });
    await world.close(next.started, 'stopped');
    return rows.map(({ task, node }) => `${task}@${world.nodes.indexOf(Number(node)) + 1}`);
  };
  const setting = (world: Awaited<ReturnType<typeof twoNodes>>, value: number) =>
    world.store.clusters.update(world.cluster, { attributes: { editable: { common: { setting: { value } } } } });

  it.each([
    ['blocked', 'failed', 'failed'],
    ['not_reached', 'not_reached', 'stopped'],
  ] as const)('leaves tasks that were %s the state of their last success', async (status, node, outcome) => {
    const world = await twoNodes();
    const [one, two] = world.nodes as [number, number];
    await both(world, 'run-1');
    const undone = { attempt: 0, ...(status === 'blocked' && { root_cause: { task: null, node: String(two) } }) };
    const rows = [row('a', one, 'success'), row('a', two, status, undone)];
    await through(world, 'run-2', outcome, rows, { [one]: 'success', [two]: node });
    const offline = { end: { outcome: 'failed', failure_kind: 'offline' } } as const;
    await through(world, 'run-3', 'failed', [row('a', two, 'failed', offline)], { [one]: 'success', [two]: 'failed' });
    expect(await unchanged(world, 'run-4')).toEqual(['b@1', 'b@2']);
  });

  it('whose records the store has lost says so, and what may have been begun is not unchanged', async () => {
    const world = await twoNodes();
    await both(world, 'run-1');
    expect(await unchanged(world, 'run-2')).not.toEqual([]);
    const [one, two] = world.nodes as [number, number];
    const { started, graph, of } = await run(world, 'run-3', { force: true });
    await world.record_tasks({ ...of, sequence: 1, rows: [row('a', one, 'success')] });
    const nodes = { [one]: 'success' as const, [two]: 'success' as const };
    const closing = { transaction: started.transaction, graph, outcome: 'success' as const, nodes, done: 4 };
    expect(await world.close_graph(closing)).toBe('records-missing');
    expect(await world.close_graph(closing)).toBe('records-missing');
    await world.close(started);
    const left = await unchanged(world, 'run-4');
    expect(left).toEqual([]);
  });

  it('whose records the store has lost leaves what had nothing to do the state of its last success', async () => {
    const world = await twoNodes();
    await both(world, 'run-1');
    const [one, two] = world.nodes as [number, number];
    const { started, graph, of } = await run(world, 'run-2');
    await world.record_tasks({ ...of, sequence: 1, rows: [row('a', one, 'success')] });
    const nodes = { [one]: 'success' as const, [two]: 'success' as const };
    const closing = { transaction: started.transaction, graph, outcome: 'success' as const, nodes, done: 2 };
    expect(await world.close_graph(closing)).toBe('records-missing');
    await world.close(started);
    expect(await unchanged(world, 'run-3')).toEqual(['b@1', 'b@2']);
  });

  it('leaves a task that began and failed no state: it runs again, even if all is set back', async () => {
    const world = await twoNodes();
    const [one, two] = world.nodes as [number, number];
    await both(world, 'run-1');
    await setting(world, 2);
    const rows = [row('b', one, 'success'), row('b', two, 'failed', { end: { outcome: 'failed', exit_code: 1 } })];
    await through(world, 'run-2', 'failed', rows, { [one]: 'success', [two]: 'failed' });
    expect(await unchanged(world, 'run-3')).toEqual(['b@1']);
    await setting(world, 1);
    expect(await unchanged(world, 'run-4')).toEqual([]);
  });

  it('knows nothing of what was done on a system that is gone', async () => {
    const world = await twoNodes();
    const [one, two] = world.nodes as [number, number];
    await both(world, 'run-1');
    await world.store.nodes.update(two, { status: 'provisioned' });
    const failed = [row('a', two, 'failed', { end: { outcome: 'failed', exit_code: 1 } })];
    await through(world, 'run-2', 'failed', failed, { [one]: 'success', [two]: 'failed' });
    expect(await unchanged(world, 'run-3')).toEqual(['b@1']);
  });

  it('that was stopped before a task runs that task when it is continued', async () => {
    const world = await twoNodes();
    const { started, graph, of } = await run(world, 'run-1');
    const [one, two] = world.nodes as [number, number];
    const undone = { attempt: 0, ended_at: '2026-11-21T10:02:00.000Z' };
    await world.record_tasks({
      ...of,
      sequence: 1,
      rows: [
        row('a', one, 'success'),
        row('b', one, 'not_reached', undone),
        row('a', two, 'success'),
        row('b', two, 'not_reached', undone),
      ],
    });
    await world.close_graph({
      transaction: started.transaction,
      graph,
      outcome: 'stopped',
      nodes: { [one]: 'not_reached', [two]: 'not_reached' },
      done: 0,
    });
    await world.close(started, 'stopped');
    expect((await world.store.transactions.get(graph)).status).toBe('stopped');
    const next = await run(world, 'run-2', { from: started.transaction });
    const left = await world.store.taskHistory.list(next.graph, { statuses: ['waiting'] });
    expect(left.map(({ task }) => task)).toEqual(['b', 'b']);
  });

  it('that is continued runs the remaining tasks, attempted before or not, but not skipped ones', async () => {
    const world = await twoNodes();
    const { started, graph, of } = await run(world, 'run-1');
    const [one, two] = world.nodes as [number, number];
    await world.record_tasks({
      ...of,
      sequence: 1,
      rows: [
        // Skipped by an operator before its first attempt.
        row('a', one, 'skipped', { attempt: 0 }),
        // Its failure was tolerated, and the run continued after it.
        row('b', one, 'ignored'),
        // Left undone by a stop and then, in the same attempt, opened again and skipped.
        row('a', two, 'not_reached', { attempt: 0 }),
        row('a', two, 'waiting', { attempt: 0 }),
        row('a', two, 'skipped', { attempt: 0 }),
        // Tried, opened again for another attempt, and left undone by a stop.
        row('b', two, 'not_reached', { attempt: 1, end: { outcome: 'failed', message: 'exit code 1' } }),
      ],
    });
    await world.close_graph({
      transaction: started.transaction,
      graph,
      outcome: 'stopped',
      nodes: { [one]: 'success', [two]: 'not_reached' },
      done: 0,
    });
    await world.close(started, 'stopped');
    const next = await run(world, 'run-2', { from: started.transaction });
    const left = await world.store.taskHistory.list(next.graph, { statuses: ['waiting'] });
    expect(left.map(({ task, node }) => `${task}@${node}`)).toEqual([`b@${two}`]);
  });

  it('that is continued is planned again, without the nodes that left the cluster', async () => {
    const world = await twoNodes();
    const [one, two] = world.nodes as [number, number];
    const { started, graph, of } = await run(world, 'run-1', {
      graphs: [{ type: 'default', nodes: [one, two] }],
    });
    await world.record_tasks({
      ...of,
      sequence: 1,
      rows: [
        row('a', one, 'failed'),
        row('b', one, 'blocked', { attempt: 0, root_cause: { task: 'a', node: String(one) } }),
        row('a', two, 'failed'),
        row('b', two, 'blocked', { attempt: 0, root_cause: { task: 'a', node: String(two) } }),
      ],
    });
    await world.close_graph({ transaction: started.transaction, graph, outcome: 'failed', nodes: {}, done: 0 });
    await world.close(started, 'failed');
    await world.store.nodes.unassign(world.cluster, [two]);
    const next = await run(world, 'run-2', { from: started.transaction });
    const left = await world.store.taskHistory.list(next.graph, { statuses: ['waiting'] });
    expect(left.map(({ task, node }) => `${task}@${node}`)).toEqual([`a@${one}`, `b@${one}`]);
  });

  it('that lost tolerated tasks continues with those; one whose workflow was terminated continues with all it had not done', async () => {
    const world = await twoNodes();
    const [one, two] = world.nodes as [number, number];
    const first = await run(world, 'run-1');
    await world.record_tasks({
      ...first.of,
      sequence: 1,
      rows: [
        row('a', one, 'success'),
        row('b', one, 'success'),
        row('a', two, 'failed'),
        row('b', two, 'blocked', { attempt: 0, root_cause: { task: 'a', node: String(two) } }),
      ],
    });
    const closing = {
      transaction: first.started.transaction,
      graph: first.graph,
      outcome: 'success' as const,
      nodes: {},
      done: 0,
    };
    await world.close_graph(closing);
    await world.close(first.started, 'success');
    const second = await run(world, 'run-2', { from: first.started.transaction });
    const waiting = async (graph: number) => {
      const rows = await world.store.taskHistory.list(graph, { statuses: ['waiting'] });
      return rows.map(({ task, node }) => `${task}@${node}`);
    };
    expect(await waiting(second.graph)).toEqual([`a@${two}`, `b@${two}`]);
    await world.record_tasks({
      ...second.of,
      sequence: 1,
      rows: [row('a', two, 'success'), row('b', two, 'running')],
    });
    const from = second.started.transaction;
    expect(await world.refused({ from }, 'run-3')).toMatchObject({ kind: 'cluster-busy' });
    world.open.delete('run-2');
    const third = await run(world, 'run-3', { from });
    expect(await waiting(third.graph)).toEqual([`b@${two}`]);
    expect((await world.store.transactions.get(from)).message).toBe('by the test');
  });

  it('whose graph was closed before the store was restored says at its end what is lost', async () => {
    const world = await twoNodes();
    const { started, graph } = await run(world, 'run-1');
    const counts = { ...NO_TASKS, success: 2 };
    const one = {
      transaction: graph,
      type: 'default',
      state: 'success',
      ...{ counts, done: 2, total: 2, failing_nodes: 0, failed_tasks: [], failed_nodes: [] },
    } as never;
    await world.close_graph_run({
      transaction: started.transaction,
      workflow_id: `execute_graph:${world.cluster}:run-1`,
      run_id: 'run-1',
      outcome: 'success',
      ended_at: new Date().toISOString(),
      report: graphReport({ graphs: [one] }),
    });
    expect(await world.store.runs.getReport('run-1')).toMatchObject({ warnings: [recordsLost('default')] });
    expect(await world.store.transactions.get(graph)).toMatchObject({ status: 'success' });
  });

  it('that ends removes old plans that no transaction shows', async () => {
    const world = await twoNodes();
    const plan = (hash: string) => ({
      hash,
      reference: {},
      parts: [],
      coordination: [],
    });
    await world.store.plans.write(plan('unused'));
    const { started, graph } = await run(world, 'run-1');
    const { planHash } = await world.store.transactions.get(graph);
    const close = ({ transaction }: { readonly transaction: number }, run_id: string, ended_at: string) =>
      world.close_graph_run({
        transaction,
        workflow_id: `execute_graph:${world.cluster}:${run_id}`,
        run_id,
        outcome: 'success',
        ended_at,
        report: graphReport({}),
      });
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    await close(started, 'run-1', inDays(29));
    expect(await world.store.plans.getReference('unused')).toBeDefined();
    await close((await run(world, 'run-2')).started, 'run-2', inDays(31));
    await expect(world.store.plans.getReference('unused')).rejects.toThrow('unused');
    expect(await world.store.plans.getReference(planHash!)).toBeDefined();
  });

  it('in noop mode changes no node, no cluster and no state', async () => {
    const world = await twoNodes();
    const { started, graph } = await run(world, 'run-1', { mode: 'dry_run' });
    await world.close_graph({
      transaction: started.transaction,
      graph,
      outcome: 'success',
      nodes: { [world.nodes[0]!]: 'success' },
      done: 0,
    });
    await world.close(started);
    const nodes = await world.store.nodes.list({ clusterId: world.cluster });
    expect(nodes.map(({ status }) => status)).toEqual(['provisioned', 'provisioned']);
    expect((await world.store.clusters.brief(world.cluster)).status).toBe('new');
    expect((await world.store.taskStates.read(world.cluster)).tasks).toEqual([]);
    expect(await world.refused({ from: started.transaction }, 'run-2')).toMatchObject({
      kind: 'request-refused',
      code: 'conflict',
    });
  });

  it('has what came of its checks last in its report', async () => {
    const world = await twoNodes('dc1');
    const { started } = await run(world, 'run-1');
    const result = { text: '', output: null, ms: 1_000, node: 'rack-1', runId: started.run };
    const known = { checks: ['up'], nodes: ['rack-1'] };
    const add = (verdict: 'well' | 'failed', at: string, runId = started.run) =>
      world.store.checkResults.add('dc1', 'up', [{ ...result, verdict, at, runId }], known);
    await add('failed', '2026-11-29T10:00:00.000Z');
    await add('well', '2026-11-29T10:01:00.000Z');
    await add('failed', '2026-11-29T10:02:00.000Z', 'another');
    await world.close(started);
    const report = (await world.store.runs.getReport(started.run)) as unknown as GraphRunReport;
    expect(report.check_results).toMatchObject([{ check: 'up', node: 'rack-1', verdict: 'well' }]);
    expect(graphReportText(report)).toContain('Checks (1)');
  });

  it('of deletion removes its nodes from the cluster', async () => {
    const world = await twoNodes();
    await world.upload([shell('erase', { roles: '*' })], 'deletion', {
      nodeFilter: '$.pending_deletion',
      onSuccess: { node_attributes: { status: 'deleted', pending_deletion: false } },
    });
    const [one] = world.nodes as [number];
    await world.store.nodes.update(one, { pendingDeletion: true });
    const { started, graph, plan, of } = await run(world, 'run-1', { graphs: [{ type: 'deletion' }] });
    expect(plan).toMatchObject({ tasks: 1, nodes: 1 });
    await world.record_tasks({ ...of, sequence: 1, rows: [row('erase', one, 'success')] });
    const closing = {
      transaction: started.transaction,
      graph,
      outcome: 'success' as const,
      nodes: { [one]: 'success' as const },
      done: 0,
    };
    await world.close_graph(closing);
    await world.close_graph(closing);
    expect((await world.store.nodes.get(one)).clusterId).toBeNull();
    expect((await world.store.nodes.list({ clusterId: world.cluster })).length).toBe(1);
  });
});

describe('the report of a run of 150 nodes that fail', () => {
  const reasonOn = (node: number | string): string => `no lease for ${node}`;
  const failedRun = async () => {
    const world = await graphWorld({ nodes: Array.from({ length: 150 }, () => ['compute']) });
    await world.upload([shell('a'), shell('b', { requires: ['a'] })]);
    const started = await world.start();
    const { transaction: graph, type } = started.graphs[0]!;
    await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 });
    const rows = world.nodes.flatMap((node) => [
      row('a', node, 'failed', { attempt: 2, end: { outcome: 'failed', message: reasonOn(node), exit_code: 7 } }),
      row('b', node, 'blocked', { root_cause: { task: 'a', node: String(node) } }),
    ]);
    await world.record_tasks({ transaction: started.transaction, graph, part: 0, sequence: 1, rows });
    const failures = world.nodes.map(String).map((node) => ({
      task: { task: 'a', node, attempts: 2, reason: `${reasonOn(node)} (exit code 7)` },
      node: { node, failed_tasks: ['a'], lost_tasks: 1, root_causes: [{ task: 'a', node }] },
    }));
    const report = graphReport({
      ...{ cluster: world.cluster, transaction: started.transaction, outcome: 'failed', cut: { failed_omitted: 290 } },
      graphs: [
        {
          ...{
            type,
            transaction: graph,
            state: 'failed',
            done: 0,
            total: 300,
            nodes: 150,
            failing_nodes: 150,
            parts: 1,
          },
          ...{ counts: { ...NO_TASKS, failed: 150, blocked: 150 }, offline: [] },
          failed_tasks: failures.slice(50, 55).map(({ task }) => task),
          failed_nodes: failures.slice(50, 55).map(({ node }) => node),
        },
      ],
    });
    return { world, started, report, failures };
  };
  const byNode = (one: { node: string }, other: { node: string }): number => Number(one.node) - Number(other.node);
  const expectWhole = async ({ world, started, failures }: Awaited<ReturnType<typeof failedRun>>) => {
    const { cut, graphs } = (await world.store.runs.getReport(started.run)) as unknown as GraphRunReport;
    expect(cut).toBeUndefined();
    expect(graphs[0]!.failed_tasks.toSorted(byNode)).toEqual(failures.map(({ task }) => task));
    expect(graphs[0]!.failed_nodes.toSorted(byNode)).toEqual(failures.map(({ node }) => node));
  };

  it('has them all, though its workflow knows five', async () => {
    const run = await failedRun();
    const { transaction, run: run_id } = run.started;
    await run.world.close_graph_run({
      ...{ transaction, run_id, workflow_id: `execute_graph:${run.world.cluster}:${run_id}` },
      ...{ outcome: 'failed', ended_at: '2026-11-21T11:00:00.000Z', report: run.report },
    });
    await expectWhole(run);
  });

  it('has them all when the run was terminated', async () => {
    const run = await failedRun();
    const record = await run.world.store.runs.get(run.started.run);
    await run.world.store.runs.putReport(record.id, record.sequence, run.report);
    await closeGone({ store: run.world.store, end: async () => ({ outcome: 'terminated', at: new Date() }) });
    await expectWhole(run);
  });
});

describe('a graph of deletion without node attributes', () => {
  const deletion = async (tasks: Parameters<Awaited<ReturnType<typeof twoNodes>>['upload']>[0]) => {
    const world = await twoNodes();
    await world.upload(tasks, 'deletion');
    const [one, two] = world.nodes as [number, number];
    await world.store.nodes.update(one, { pendingDeletion: true });
    const started = await world.start({ graphs: [{ type: 'deletion' }] }, 'run-1');
    const graph = started.graphs[0]!.transaction;
    const plan = planOf(await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 }));
    const end = async (nodes: Record<string, 'success' | 'failed'>) => {
      const outcome = Object.values(nodes).includes('failed') ? ('failed' as const) : ('success' as const);
      await world.close_graph({ transaction: started.transaction, graph, outcome, nodes, done: 0 });
      const [left, stayed] = await Promise.all([world.store.nodes.get(one), world.store.nodes.get(two)]);
      expect(stayed).toMatchObject({ clusterId: world.cluster, status: 'provisioned' });
      return left;
    };
    return { plan, one, end };
  };

  it('removes its nodes from the cluster', async () => {
    const { plan, one, end } = await deletion([shell('erase', { roles: '*' })]);
    expect(plan).toMatchObject({ tasks: 1, nodes: 1 });
    expect(await end({ [one]: 'success' })).toMatchObject({ clusterId: null, status: 'discover' });
  });

  it('keeps a node pending, with the reason, when its removal failed', async () => {
    const { one, end } = await deletion([shell('erase', { roles: '*' })]);
    expect(await end({ [one]: 'failed' })).toMatchObject({
      pendingDeletion: true,
      status: 'error',
      errorType: 'deletion',
    });
  });

  it.each([
    ['no tasks', []],
    ['none for the node', [shell('erase', { roles: ['nothing'] })]],
    ['none whose condition holds', [shell('erase', { roles: '*', condition: { yaql_exp: 'false' } })]],
  ])('lets a node leave as it is where there are %s', async (_, tasks) => {
    const { plan, one, end } = await deletion(tasks);
    expect(plan.warnings.join()).toContain(`node rack-${one} leaves the cluster as it is`);
    expect(await end({})).toMatchObject({ clusterId: null, status: 'provisioned', pendingDeletion: false });
  });
});

describe('the checks of a cluster', () => {
  const roles = { a: { name: 'a', conflicts: ['b'] }, b: { name: 'b' } };
  const tags = { unused: { has_primary: false } };
  const task = { id: 't', type: 'shell', version: '2.1.0', tags: ['a'], parameters: { cmd: 'true' } };
  const planned = async (input: Partial<GraphRunInput>, options: Partial<WorldOptions> = {}) => {
    const world = await graphWorld({ roles, tags, nodes: [['a', 'b']], ...options });
    await world.upload([task]);
    const started = await world.start(input);
    const request = { transaction: started.transaction, graph: started.graphs[0]!.transaction, room: 2_500 };
    return { world, request, answer: await world.plan_graph(request) };
  };

  it('refuse a run however it was started, unless it is forced', async () => {
    const world = await graphWorld({ roles, tags, nodes: [['a', 'b']] });
    await world.upload([task]);
    expect(await world.refused()).toMatchObject({
      kind: 'request-refused',
      code: 'invalid',
      errors: [{ message: "Role 'a' in conflict with role 'b'." }],
    });
    const { answer } = await planned({ force: true });
    expect(planOf(answer).warnings).toEqual([expect.stringContaining('in conflict')]);
  });

  it('name tags without nodes in the explanation, but warn no operator of them', async () => {
    const { world, answer } = await planned({}, { nodes: [['a']] });
    expect(planOf(answer).warnings).toEqual([]);
    const sources = await readClusterSources(world.store, world.cluster);
    const layers = await readGraphLayers(world.store, sources, 'default');
    const shown = await plannerHere().plan('explanation', {
      sources,
      layers,
      request: { type: 'default' },
      surroundings: {},
    });
    expect(shown).toMatchObject({
      ok: true,
      value: { warnings: [{ code: 'check.tags-unassigned', severity: 'info' }] },
    });
  });

  it('do not block a plan without work, which counts the reasons', async () => {
    const world = await graphWorld({ roles, nodes: [['b'], ['b']] });
    await world.store.nodes.update(world.nodes[1]!, { status: 'discover', pendingAddition: true });
    await world.upload([task, { ...task, id: 'u', tags: ['b'], condition: { yaql_exp: 'false' } }]);
    const plan = async (input: Partial<GraphRunInput>, run: string) => {
      const started = await world.start(input, run);
      const answer = await world.plan_graph({
        transaction: started.transaction,
        graph: started.graphs[0]!.transaction,
        room: 2_500,
      });
      await world.close(started);
      return answer;
    };
    expect(planOf(await plan({}, 'run-1')).nothing_to_do).toEqual([
      { reason: 'node left out: it is not provisioned yet', count: 1 },
      { reason: 'task skipped: its condition is false', count: 1 },
      { reason: expect.stringContaining('task on no node'), count: 1 },
    ]);
    expect(await plan({ force: true }, 'run-2')).toMatchObject({
      ok: false,
      failure: {
        problems: [expect.stringContaining(`nothing can be forced: node ${world.nodes[1]} is not provisioned`)],
      },
    });
  });
});

it.each([
  [20, 120, 140],
  [20, 60, 80],
  [5, 2, 7],
  [300, 60, 360],
  [20, 3_600, 140],
])(
  'with heartbeats every %i s and %i s of waiting, an agent counts as offline after %i s',
  async (heartbeat_seconds, offline_wait_seconds, limit) => {
    const world = await graphWorld({ nodes: [['compute']], waits: { heartbeat_seconds, offline_wait_seconds } });
    const opened = await world.start();
    expect(opened).toMatchObject({ heartbeat_seconds, agent_heartbeat_seconds: limit, offline_wait_seconds });
  },
);

describe('tags of a changed role', () => {
  const changed = async (tagExtensions: string) => {
    const world = await graphWorld({
      roles: { data: { name: 'data', tags: ['data', 'mysql'] } },
      tags: { data: {}, mysql: {} },
      nodes: [['data'], ['data']],
      tagExtensions,
    });
    // They got the role before it had the tag mysql.
    for (const id of world.nodes) await world.store.nodes.update(id, { roleTags: { data: ['data'] } });
    const given = world.nodes.map((nodeId) => ({ nodeId, tag: 'data', source: 'role' as const, role: 'data' }));
    await world.store.tags.assign(world.cluster, given);
    await world.upload(['mysql:1', 'mysql:2'].map((tag) => shell(`on-${tag}`, { tags: [tag], roles: undefined })));
    const started = await world.start();
    const answer = await world.plan_graph({
      transaction: started.transaction,
      graph: started.graphs[0]!.transaction,
      room: 2_500,
    });
    const rows = await world.store.taskHistory.list(started.graphs[0]!.transaction);
    return { world, answer, ran: rows.map(({ task, node }) => `${task}@${node}`).sort() };
  };

  it('are decided by extensions, in the plan as in the store', async () => {
    const { world, ran } = await changed(fileURLToPath(new URL('examples/tag-extension/spread-mysql.mjs', root)));
    const [one, two] = world.nodes;
    expect(ran).toEqual([`on-mysql:1@${one}`, `on-mysql:2@${two}`]);
    const stored = await world.store.tags.assignments(world.cluster, { nodeIds: [two!] });
    expect(stored.map(({ tag, source, role }) => [tag, source, role]).sort()).toEqual([
      ['data', 'role', 'data'],
      ['mysql', 'role', 'data'],
      ['mysql:2', 'extension', 'data'],
    ]);
  });

  it('refuse a run when an extension does, with its reason', async () => {
    const world = await graphWorld({
      roles: { data: { name: 'data', tags: ['data', 'mysql'] } },
      tags: { data: {}, mysql: {} },
      nodes: [['data']],
      tagExtensions: '/no/such/module.mjs',
    });
    await world.store.nodes.update(world.nodes[0]!, { roleTags: { data: ['data'] } });
    const given = [{ nodeId: world.nodes[0]!, tag: 'data', source: 'role' as const, role: 'data' }];
    await world.store.tags.assign(world.cluster, given);
    const failure = await world.refused();
    expect(failure).toMatchObject({ kind: 'plan-refused' });
    expect(JSON.stringify(failure)).toContain('/no/such/module.mjs cannot be loaded');
  });
});

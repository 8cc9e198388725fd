import { expect, it } from 'vitest';
import { endStoredRun } from '../../rig/ended-run.ts';
import { describeStore } from './backends.ts';
import { withCluster, withRun } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

const GRAPHS = [{ graphType: 'default' }, { graphType: 'custom', input: { type: 'custom', nodes: [1] } }];

describeStore('TransactionStore', (backend) => {
  it('writes a run with its graphs, and hides the ones before', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const input = { cluster: cluster.id, force: true };
    const first = await store.transactions.createRun({ clusterId: cluster.id, graphs: GRAPHS, input, force: true });
    expect(first.run).toMatchObject({ name: 'deploy', status: 'running', input, force: true, result: {} });
    expect(first.graphs).toMatchObject([
      { name: 'deployment', status: 'waiting', parentId: first.run.id, graphType: 'default', timeStart: null },
      { graphType: 'custom', input: { type: 'custom', nodes: [1] }, force: true },
    ]);
    for (const id of [first.run.id, first.graphs[1]!.id]) expect(await store.transactions.getRun(id)).toEqual(first);
    for (const id of [first.run.id + 9, -1, Number.NaN])
      expect(await failureOf(store.transactions.getRun(id))).toMatchObject({ kind: 'not-found', what: 'transaction' });
    await endStoredRun(store, first.run.id, 'failed', 'boom');
    const { run } = await store.transactions.createRun({ clusterId: cluster.id, graphs: GRAPHS });
    const shown = await store.transactions.list({ hidden: false, parentId: null });
    expect(shown.map(({ id }) => id)).toEqual([run.id]);
    expect(await store.transactions.list({ clusterId: cluster.id })).toHaveLength(6);
    expect(await store.transactions.list({ statuses: ['failed'], names: ['deploy'] })).toMatchObject([
      { id: first.run.id, message: 'boom', timeEnd: expect.any(String) },
    ]);
    expect(await store.transactions.list({ statuses: [] })).toEqual([]);
  });

  it('adds graphs in which nodes ask checks, once while they are open, apart from those of the run', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const { run, graphs } = await store.transactions.createRun({ clusterId: cluster.id, graphs: GRAPHS, force: true });
    const asking = [{ graphType: 'checks', input: { asked: [] } }];
    const first = await store.transactions.addAsking(run.id, '1.1', asking);
    expect(first).toMatchObject([{ mode: 'check', force: true, parentId: run.id, input: { turn: '1.1', asked: [] } }]);
    expect(await store.transactions.addAsking(run.id, '1.1', asking)).toEqual(first);
    const [other] = await store.transactions.addAsking(run.id, '2.1', asking);
    expect(await store.transactions.getRun(run.id)).toMatchObject({ graphs, asking: [first[0]!, other!] });
    await store.transactions.update(first[0]!.id, { status: 'success' });
    expect(await store.transactions.addAsking(run.id, '1.1', asking)).not.toMatchObject([{ id: first[0]!.id }]);
  });

  it('reopens the graphs that ended with their run, but not those that had ended before', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const { run, graphs } = await store.transactions.createRun({ clusterId: cluster.id, graphs: GRAPHS });
    await store.transactions.update(graphs[0]!.id, { status: 'failed', message: 'boom' });
    const timeEnd = new Date().toISOString();
    await store.transactions.endGraphs(run.id, { status: 'failed', timeEnd });
    for (const _again of [1, 2]) await store.transactions.reopenGraphs(run.id);
    const open = await store.transactions.getRun(run.id);
    expect(open.graphs).toMatchObject([
      { status: 'failed', message: 'boom' },
      { status: 'waiting', message: null, timeEnd: null },
    ]);
  });

  it('creates a run once, however often it is asked', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([backend.open(url), backend.open(url)]);
    const { cluster } = await withCluster(stores[0]!);
    const create = (n: number) =>
      stores[n % 2]!.transactions.createRun({
        clusterId: cluster.id,
        graphs: GRAPHS,
        workflowId: 'w',
        temporalRunId: 'r',
      });
    const won = (await Promise.all([1, 2, 3, 4].map(create))).map(({ run }) => run);
    expect(new Set(won.map(({ id }) => id)).size).toBe(1);
    const { workflowId, temporalRunId } = won[0]!;
    const again = { clusterId: cluster.id, graphs: GRAPHS, workflowId: workflowId!, temporalRunId: temporalRunId! };
    expect((await stores[0]!.transactions.createRun(again)).run).toEqual(won[0]);
    await endStoredRun(stores[0]!, won[0]!.id, 'success');
    expect((await stores[0]!.transactions.createRun(again)).run.id).toBe(won[0]!.id);
    expect(await stores[0]!.transactions.list()).toHaveLength(3);
    expect((await stores[1]!.transactions.findRun(workflowId!))?.run.id).toBe(won[0]!.id);
    expect(await stores[1]!.transactions.findRun('nosuch')).toBeNull();
  });

  it('keeps the first end of a graph, and shows that of a run by its record', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const { run, graph } = await withRun(store, cluster.id);
    const { transactions } = store;
    const started = await transactions.update(graph.id, { status: 'running', planHash: 'h' });
    expect(started).toMatchObject({ status: 'running', planHash: 'h', timeEnd: null });
    expect(started.timeStart).not.toBeNull();
    const at = '2026-01-01T00:00:00.000Z';
    const ended = await transactions.update(graph.id, { status: 'success', timeEnd: at, result: { a: 1 } });
    expect(ended).toMatchObject({ status: 'success', timeEnd: at, result: { a: 1 } });
    for (const change of [{ status: 'running' }, { status: 'failed', message: 'late' }] as const) {
      expect(await transactions.update(graph.id, change)).toEqual(ended);
    }
    await endStoredRun(store, run.id, 'stopped', 'by ann');
    const whole = await transactions.getRun(run.id);
    expect(whole).toMatchObject({ run: { status: 'stopped', message: 'by ann' }, graphs: [{ status: 'success' }] });
    const { id, endedAt } = (await store.runs.list({ number: run.id })).items[0]!;
    expect(whole.run.timeEnd).toBe(endedAt);
    expect(await transactions.get(run.id)).toEqual(whole.run);
    expect(await transactions.list({ statuses: ['running'], parentId: null })).toEqual([]);
    await store.runs.put({ ...(await store.runs.get(id)), sequence: 1_001, outcome: null, endedAt: null });
    expect(await transactions.get(run.id)).toEqual(run);
  });

  it('aborts remaining tasks when the run ends', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const timeEnd = new Date().toISOString();
    for (const [status, ofRunning] of [
      ['failed', 'failed'],
      ['terminated', 'failed'],
      ['stopped', 'stopped'],
      ['cancelled', 'stopped'],
    ] as const) {
      const waiting = await withRun(store, cluster.id);
      await store.transactions.endGraphs(waiting.run.id, { status, timeEnd });
      expect(await store.transactions.getRun(waiting.run.id)).toMatchObject({
        graphs: [{ status: 'not_reached', message: 'Aborted' }],
      });
      const running = await withRun(store, cluster.id);
      await store.transactions.update(running.graph.id, { status: 'running' });
      await store.transactions.endGraphs(running.run.id, { status, timeEnd });
      expect(await store.transactions.getRun(running.run.id)).toMatchObject({
        graphs: [{ status: ofRunning, message: 'Aborted' }],
      });
    }
  });

  it('ends a graph as its run says, if the store has lost that end', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const { run, graph } = await withRun(store, cluster.id);
    await store.transactions.update(graph.id, { status: 'running' });
    const known = new Map([[graph.id, 'failed' as const]]);
    await store.transactions.endGraphs(run.id, { status: 'cancelled', timeEnd: new Date().toISOString(), known });
    expect(await store.transactions.getRun(run.id)).toMatchObject({ graphs: [{ status: 'failed', message: null }] });
    const again = new Map([[graph.id, 'stopped' as const]]);
    const end = { status: 'cancelled', timeEnd: new Date().toISOString(), known: again } as const;
    await store.transactions.endGraphs(run.id, end);
    expect((await store.transactions.get(graph.id)).status).toBe('failed');
    await store.transactions.endGraphs(run.id, { ...end, isOwn: true });
    expect((await store.transactions.get(graph.id)).status).toBe('stopped');
  });

  it('permanently deletes ended runs with all their data, and pages', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const { cluster } = await withCluster(store);
    const { run, graph } = await withRun(store, cluster.id);
    await store.transactions.putSnapshot(graph.id, 'deployment_info', '{"one": 1.0}');
    await store.transactions.putSnapshot(run.id, 'deployment_info', '{"one": 1.0}');
    await store.transactions.putSnapshot(graph.id, 'tasks', '[]');
    await store.transactions.putSnapshot(graph.id, 'tasks', '[2]');
    expect(await store.transactions.getSnapshot(graph.id, 'deployment_info')).toBe('{"one": 1.0}');
    expect(await store.transactions.getSnapshot(graph.id, 'tasks')).toBe('[2]');
    expect(await store.transactions.getSnapshot(graph.id, 'cluster_settings')).toBeUndefined();
    expect(await backend.sql(url, 'select hash from content')).toHaveLength(2);
    expect(await failureOf(store.transactions.delete(run.id))).toMatchObject({ kind: 'conflict' });
    await store.transactions.hide(run.id);
    await store.transactions.hide(run.id);
    expect(await store.transactions.list({ hidden: true })).toHaveLength(2);
    // Signatures for its graphs are deleted with it: a reused id must not meet them.
    const at = new Date().toISOString();
    const [own, other] = [String(graph.id), '999999'].map((name) => ({
      run: name,
      node: 'n',
      task: 't',
      generation: 1,
    }));
    for (const key of [own!, other!]) await store.nodeIdentities.recordOrder(key, 'first', at);
    await store.transactions.delete(run.id, { force: true });
    expect(await store.nodeIdentities.recordOrder(own!, 'second', at)).toBe('second');
    expect(await store.nodeIdentities.recordOrder(other!, 'second', at)).toBe('first');
    expect(await store.transactions.list()).toEqual([]);
    expect(await backend.sql(url, 'select hash from content')).toEqual([]);
    expect(await failureOf(store.transactions.get(run.id))).toMatchObject({ kind: 'not-found', what: 'transaction' });
  });

  it('writes other work in the same transaction', async () => {
    const store = await backend.fresh();
    const made = await store.transactions.create({ name: 'check_before_deployment', status: 'failed', message: 'no' });
    expect(made).toMatchObject({ clusterId: null, status: 'failed', message: 'no' });
    expect(made.timeEnd).not.toBeNull();
    expect(await failureOf(store.transactions.create({ name: 'x', clusterId: 9 }))).toMatchObject({ what: 'cluster' });
  });
});

import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { NewPlan, PlanRange, Store } from '../../../src/store/index.ts';
import { describeStore } from './backends.ts';
import { withCluster, withRun } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

/** Names whose order differs between UTF-16 and bytes, and around the ends of blocks. */
const TASKS = [...Array.from({ length: 40 }, (_, n) => `task-${n}`), 'Ä', '\u{1F600}', '\uFFFD', 'A', 'z'];

const plan = (hash: string): NewPlan & PlanRange => ({
  hash,
  reference: { hash, tasks: 2 },
  parts: [['{"a":', '1}'], ['"part two"']],
  coordination: ['coordination'],
  orders: ['1', '2'].flatMap((node) =>
    TASKS.map((task) => ({ node, task, order: { type: 'shell', key: `${task}@${node}` } })),
  ),
  explanation: '{"why": 1.0}',
});

/** Writes a plan in one range. */
async function put({ plans }: Store, one: NewPlan & PlanRange): Promise<void> {
  const writer = await plans.write(one);
  await writer.add(one);
  await writer.end();
}

describeStore('PlanStore', (backend) => {
  it('returns each chunk of a plan', async () => {
    const store = await backend.fresh();
    const { plans } = store;
    // Written until it is complete, and never changed afterwards.
    await (await plans.write(plan('h'))).add({ ...plan('h'), explanation: '{' });
    expect(await failureOf(plans.getExplanation('h'))).toMatchObject({ kind: 'not-found' });
    await put(store, plan('h'));
    await put(store, { ...plan('h'), explanation: 'other', orders: [{ node: '3', task: 'A', order: {} }] });
    expect(await plans.getReference('h')).toEqual({ hash: 'h', tasks: 2 });
    expect(await text(await plans.getExplanation('h'))).toBe('{"why": 1.0}');
    expect((await plans.getChunk('h', 0, 0)) + (await plans.getChunk('h', 0, 1))).toBe('{"a":1}');
    expect(await plans.getChunk('h', 1, 0)).toBe('"part two"');
    expect(await plans.getChunk('h', 'coordination', 0)).toBe('coordination');
    for (const node of ['1', '2']) {
      for (const task of TASKS) {
        expect(await plans.getOrder('h', node, task)).toEqual({ type: 'shell', key: `${task}@${node}` });
      }
    }
  });

  it('returns an explanation that came in many pieces', async () => {
    const { plans } = await backend.fresh();
    const pieces = ['é', 'b', 'c'].map((letter) => letter.repeat(700_000));
    const writer = await plans.write(plan('long'));
    for (const explanation of pieces) await writer.add({ orders: [], explanation });
    await writer.end();
    expect((await text(await plans.getExplanation('long'))) === pieces.join('')).toBe(true);
  });

  it('reports missing plans and states', async () => {
    const store = await backend.fresh();
    const { plans } = store;
    await put(store, plan('h'));
    const missing = [
      plans.getReference('x'),
      plans.getExplanation('x'),
      plans.getChunk('h', 0, 2),
      plans.getChunk('h', 7, 0),
      plans.getChunk('h', -1, 0),
      plans.getChunk('h', 'coordination', 1),
      plans.getChunk('h', 0.5, Number.NaN),
      plans.getOrder('h', '1', 'task-'),
      plans.getOrder('h', '1', ''),
      plans.getOrder('h', '3', 'A'),
    ];
    for (const failure of await Promise.all(missing.map(failureOf)))
      expect(failure).toMatchObject({ kind: 'not-found' });
    const twice = [1, 2].map(() => ({ node: '1', task: 't', order: {} }));
    expect(await failureOf(put(store, { ...plan('i'), orders: twice }))).toMatchObject({ kind: 'invalid' });
    const apart = await plans.write(plan('j'));
    await apart.add({ orders: twice.slice(1), explanation: '' });
    expect(await failureOf(apart.add({ orders: twice.slice(1), explanation: '' }))).toMatchObject({ kind: 'invalid' });
  });

  it('prunes plans that no transaction refers to and that are not recent', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const { cluster } = await withCluster(store);
    const { graph } = await withRun(store, cluster.id);
    for (const hash of ['used', 'unused']) await put(store, plan(hash));
    await store.transactions.update(graph.id, { planHash: 'used' });
    expect(await store.plans.prune('2000-01-01T00:00:00Z')).toBe(0);
    expect(await store.plans.prune('2999-01-01T00:00:00Z')).toBe(1);
    expect(await backend.sql(url, 'select hash from plan')).toEqual([{ hash: 'used' }]);
    expect(await backend.sql(url, `select plan from plan_order_block where plan <> 'used'`)).toEqual([]);
  });
});

describeStore('TaskStateStore', (backend) => {
  const [ONE, TWO] = ['{"common":{"n":1.0},"nodes":{}}', '{"common":{"n":2},"nodes":{}}'];
  const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;

  it('keeps for each task and node the state of its last success, in any order of writes', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const { cluster } = await withCluster(store);
    const clusterId = cluster.id;
    const [a1, a2, b1] = [
      { task: 'a', node: '1' },
      { task: 'a', node: '2' },
      { task: 'b', node: '1' },
    ];
    expect(await store.taskStates.read(clusterId)).toEqual({ states: {}, tasks: [] });
    await store.taskStates.record({ clusterId, state: TWO, at: at(2), tasks: [{ ...a1, digest: 'new' }] });
    const early = [{ ...a1, digest: 'old' }, { ...a2, digest: 'old' }, b1];
    for (const _ of [1, 2]) await store.taskStates.record({ clusterId, state: ONE, at: at(1), tasks: early });
    const { states, tasks } = await store.taskStates.read(clusterId);
    expect(tasks.map(({ state, ...row }) => ({ ...row, state: states[state] }))).toEqual([
      { ...a1, at: at(2), state: TWO, digest: 'new' },
      { ...a2, at: at(1), state: ONE, digest: 'old' },
      { ...b1, at: at(1), state: ONE, digest: '' },
    ]);
    expect(await store.taskStates.digests(clusterId)).toEqual([
      { ...a1, digest: 'new' },
      { ...a2, digest: 'old' },
      { ...b1, digest: '' },
    ]);
    expect(Object.values(states).sort()).toEqual([ONE, TWO]);
    await store.taskStates.record({ clusterId, state: TWO, at: at(3), tasks: [a2, b1] });
    expect(await backend.sql(url, 'select hash from content')).toHaveLength(1);
    expect(await failureOf(store.taskStates.read(99))).toMatchObject({ what: 'cluster' });
  });

  it('shares a text between clusters and snapshots, and drops it with the last', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const [one, two] = [(await withCluster(store)).cluster.id, (await withCluster(store, 'two')).cluster.id];
    const { run } = await withRun(store, one);
    await store.transactions.putSnapshot(run.id, 'deployment_info', ONE);
    for (const clusterId of [one, two]) {
      await store.taskStates.record({ clusterId, state: ONE, at: at(1), tasks: [{ task: 'a', node: '1' }] });
    }
    const contents = async () => (await backend.sql(url, 'select hash from content')).length;
    expect(await contents()).toBe(1);
    await store.transactions.delete(run.id, { force: true });
    await store.clusters.delete(one);
    expect(await contents()).toBe(1);
    await store.clusters.delete(two);
    expect(await contents()).toBe(0);
  });
});

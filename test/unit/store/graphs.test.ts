import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { withCluster } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

const FULL_TASK = {
  id: 'full',
  type: 'puppet',
  version: '2.1.0',
  condition: { yaql_exp: 'changed($.uid)' },
  groups: ['a'],
  tasks: ['b'],
  roles: '*',
  reexecute_on: ['deploy_changes'],
  refresh_on: ['*'],
  required_for: ['c'],
  requires: ['d'],
  cross_depended_by: [{ name: 'e' }],
  cross_depends: { yaql_exp: '[]' },
  parameters: { timeout: 10, deep: { list: [1, null, 'x'] } },
  fail_on_error: false,
  tags: ['mysql'],
  test_pre: null,
  ['__proto__']: 'a key like any other',
};

describeStore('GraphStore', (backend) => {
  it('returns tasks unchanged and in order', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const owner = { kind: 'cluster', id: cluster.id } as const;
    const tasks = [FULL_TASK, { id: 'a', type: 'stage' }, { id: 'Z', type: 'stage', condition: false }];
    const made = await store.graphs.create(owner, 'custom', { name: 'Mine', onStop: {}, tasks });
    expect(made).toMatchObject({ owner, type: 'custom', name: 'Mine', nodeFilter: null, onStop: {}, onError: null });
    expect(made.tasks).toEqual(tasks);
    expect(Object.getOwnPropertyDescriptor(made.tasks[0], '__proto__')?.value).toBe('a key like any other');
    expect(await store.graphs.get(made.id)).toEqual(made);
    expect(await store.graphs.find(owner, 'custom')).toEqual(made);
    expect(await store.graphs.find(owner, 'other')).toBeNull();
    const { tasks: _, ...brief } = made;
    expect(await store.graphs.listBrief({ types: ['custom'] })).toEqual([{ ...brief, taskNames: ['full', 'a', 'Z'] }]);
  });

  it('changes only given fields, and replaces all tasks', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const owner = { kind: 'cluster', id: cluster.id } as const;
    const { graph, created } = await store.graphs.put(owner, 'custom', { name: 'n', tasks: [FULL_TASK] });
    expect(created).toBe(true);
    expect(await store.graphs.update(graph.id, { name: 'm' })).toMatchObject({ name: 'm', tasks: [{ id: 'full' }] });
    const again = await store.graphs.put(owner, 'custom', { nodeFilter: 'true', tasks: [{ id: 'x', type: 'shell' }] });
    expect(again).toMatchObject({ created: false, graph: { id: graph.id, name: 'm', nodeFilter: 'true' } });
    expect(again.graph.tasks).toEqual([{ id: 'x', type: 'shell' }]);
    expect((await store.graphs.update(graph.id, { tasks: [], name: null })).tasks).toEqual([]);
    const twice = [1, 2, 3].map((n) => ({ id: n === 3 ? 'y' : 'x' })).concat({ id: 'y' });
    expect(await failureOf(store.graphs.update(graph.id, { tasks: twice }))).toMatchObject({
      kind: 'invalid',
      message: 'Tasks duplication found: x, y',
    });
  });

  it('has one graph of a type for an owner', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withCluster(store);
    const owner = { kind: 'cluster', id: cluster.id } as const;
    expect(await failureOf(store.graphs.create(owner, 'default', {}))).toMatchObject({ kind: 'conflict' });
    await store.graphs.create({ kind: 'release', id: release.id }, 'same', {});
    await store.graphs.create(owner, 'same', {});
    expect(await failureOf(store.graphs.create(owner, 'a b', {}))).toMatchObject({ kind: 'invalid' });
    expect(await failureOf(store.graphs.create({ kind: 'plugin', id: 5 }, 'x', {}))).toMatchObject({ what: 'plugin' });
  });

  it('filters by owners added up and types', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withCluster(store);
    const plugin = await store.plugins.create({ name: 'p', version: '1', packageVersion: '5.0.0' });
    for (const owner of [
      { kind: 'cluster', id: cluster.id },
      { kind: 'plugin', id: plugin.id },
    ] as const) {
      await store.graphs.create(owner, 'custom', {});
    }
    const shown = async (filter: Parameters<typeof store.graphs.list>[0]) =>
      (await store.graphs.list(filter)).map((graph) => `${graph.owner.kind}:${graph.type}`);
    expect(await shown({})).toEqual(['release:default', 'cluster:default', 'cluster:custom', 'plugin:custom']);
    expect(await shown({ clusters: [cluster.id], types: ['custom'] })).toEqual(['cluster:custom']);
    expect(await shown({ clusters: [cluster.id], plugins: [plugin.id] })).toEqual([
      'cluster:default',
      'cluster:custom',
      'plugin:custom',
    ]);
    expect(await shown({ clusters: [99], releases: [release.id] })).toEqual(['release:default']);
    expect(await shown({ clusters: [] })).toEqual([]);
    expect(await shown({ types: [] })).toEqual([]);
    expect(await shown({ clusters: [Number.NaN] })).toEqual([]);
  });

  it('reads the layers of a cluster: its release, its enabled plugins, its own', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withCluster(store);
    const other = await withCluster(store, 'two');
    const plugins = await Promise.all(
      ['on', 'off', 'none'].map((name) => store.plugins.create({ name, version: '1', packageVersion: '5.0.0' })),
    );
    const task = (id: string) => ({ tasks: [{ id, type: 'shell' }] });
    await store.graphs.put({ kind: 'release', id: release.id }, 't', task('of-release'));
    await store.graphs.put({ kind: 'plugin', id: plugins[0]!.id }, 't', task('of-on'));
    await store.graphs.put({ kind: 'plugin', id: plugins[1]!.id }, 't', task('of-off'));
    await store.graphs.put({ kind: 'cluster', id: other.cluster.id }, 't', task('of-other'));
    await store.plugins.link(cluster.id, plugins[0]!.id, { enabled: true });
    await store.plugins.link(cluster.id, plugins[1]!.id, { enabled: false });
    await store.plugins.link(cluster.id, plugins[2]!.id, { enabled: true });
    expect(await store.graphs.layers(cluster.id, 't')).toMatchObject({
      release: { tasks: [{ id: 'of-release' }] },
      plugins: [{ plugin: { name: 'on' }, graph: { tasks: [{ id: 'of-on' }] } }],
      cluster: null,
    });
    expect(await store.graphs.typesOf(cluster.id)).toEqual(['default', 't']);
    expect(await failureOf(store.graphs.layers(99, 't'))).toMatchObject({ what: 'cluster' });
  });

  it('removes graphs with their owner, and tasks with their graph', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const { cluster } = await withCluster(store);
    const { graph } = await store.graphs.put({ kind: 'cluster', id: cluster.id }, 'a', { tasks: [FULL_TASK] });
    await store.graphs.put({ kind: 'cluster', id: cluster.id }, 'b', { tasks: [FULL_TASK] });
    await store.graphs.delete(graph.id);
    expect(await failureOf(store.graphs.get(graph.id))).toMatchObject({ kind: 'not-found', what: 'graph' });
    await store.clusters.delete(cluster.id);
    expect(await backend.sql(url, 'select * from graph_task')).toEqual([]);
  });
});

describeStore('SequenceStore', (backend) => {
  it('keeps sequences of a release by name', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withCluster(store);
    const graphs = [{ type: 'custom' }, { type: 'default' }];
    const made = await store.sequences.create({ name: 's1', releaseId: release.id, graphs });
    expect(made).toEqual({ id: made.id, name: 's1', releaseId: release.id, graphs });
    expect(await store.sequences.list({ clusterId: cluster.id })).toEqual([made]);
    expect(await store.sequences.list({ releaseId: 99 })).toEqual([]);
    expect(await store.sequences.find(release.id, 's1')).toEqual(made);
    const twice = store.sequences.create({ name: 's1', releaseId: release.id, graphs });
    expect(await failureOf(twice)).toMatchObject({ kind: 'conflict' });
    const empty = store.sequences.create({ name: 's2', releaseId: release.id, graphs: [] });
    expect(await failureOf(empty)).toMatchObject({ kind: 'invalid' });
    expect(await store.sequences.update(made.id, { name: 's1b' })).toEqual({ ...made, name: 's1b' });
    await store.sequences.delete(made.id);
    expect(await failureOf(store.sequences.get(made.id))).toMatchObject({ what: 'sequence' });
  });
});

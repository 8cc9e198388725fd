import { expect, it } from 'vitest';
import { endStoredRun } from '../../rig/ended-run.ts';
import { describeStore } from './backends.ts';
import { withCluster, withNodes, withRun } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

describeStore('ReleaseStore and PluginStore', (backend) => {
  it('keeps given fields, and fills in the rest', async () => {
    const { releases } = await backend.fresh();
    const made = await releases.create({
      name: 'stack',
      version: '1.0',
      rolesMetadata: { controller: { name: 'Controller', tags: ['controller', 'mysql'] } },
      metadata: { volumes_metadata: { nodes: [] }, ['__proto__']: 1 },
    });
    expect(made).toMatchObject({ state: 'available', isDeployable: true, packageId: null, operatingSystem: '' });
    expect(await releases.get(made.id)).toEqual(made);
    expect(await releases.find('stack', '1.0')).toEqual(made);
    expect(await releases.find('stack', '2')).toBeNull();
    const changed = await releases.update(made.id, { isDeployable: false, rolesMetadata: {} });
    expect(changed).toMatchObject({ isDeployable: false, rolesMetadata: {}, metadata: made.metadata });
    expect(await releases.list({ ids: [made.id, 77, 1.5] })).toEqual([changed]);
    expect(await releases.list({ ids: [] })).toEqual([]);
  });

  it('has one release and one plugin of a name and version', async () => {
    const { releases, plugins } = await backend.fresh();
    const one = await releases.create({ name: 'a', version: '1' });
    const other = await releases.create({ name: 'a', version: '2' });
    expect(await failureOf(releases.create({ name: 'a', version: '1' }))).toMatchObject({ kind: 'conflict' });
    expect(await failureOf(releases.update(other.id, { version: '1' }))).toMatchObject({ kind: 'conflict' });
    expect(await releases.update(one.id, { version: '1' })).toMatchObject({ version: '1' });
    await plugins.create({ name: 'p', version: '1', packageVersion: '5.0.0' });
    const twice = plugins.create({ name: 'p', version: '1', packageVersion: '5.0.0' });
    expect(await failureOf(twice)).toMatchObject({ kind: 'conflict' });
  });

  it('removes a release or plugin only if no cluster uses it, and names the clusters', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withCluster(store);
    const next = await store.releases.create({ name: 'stack', version: '2.0' });
    const plugin = await store.plugins.create({ name: 'p', version: '1', packageVersion: '5.0.0' });
    await store.clusters.update(cluster.id, { pendingReleaseId: next.id });
    await store.plugins.link(cluster.id, plugin.id, { enabled: true });
    const refused = [
      store.releases.delete(release.id),
      store.releases.delete(next.id),
      store.plugins.delete(plugin.id),
    ];
    for (const failure of await Promise.all(refused.map(failureOf))) {
      expect(failure).toMatchObject({
        kind: 'conflict',
        users: [{ kind: 'cluster', id: cluster.id, name: 'one' }],
      });
    }
    await store.plugins.link(cluster.id, plugin.id, { enabled: false });
    await store.plugins.delete(plugin.id);
    expect(await store.plugins.ofCluster(cluster.id)).toEqual([]);
    await store.clusters.delete(cluster.id);
    await store.releases.delete(release.id);
    expect(await failureOf(store.releases.get(release.id))).toMatchObject({ kind: 'not-found', what: 'release' });
  });

  it('frees its nodes when it is deleted', async () => {
    const store = await backend.fresh();
    const { cluster, nodes } = await withNodes(store, 5);
    const ended = [
      { status: 'stopped' },
      { status: 'error', errorType: 'deploy', errorMsg: 'task failed' },
      { status: 'ready' },
      { status: 'error', errorType: 'provision' },
      { status: 'discover' },
    ];
    for (const [at, change] of ended.entries()) {
      await store.nodes.update(nodes[at]!.id, { ...change, pendingAddition: change.status === 'discover' });
    }
    await store.clusters.delete(cluster.id);
    const free = await store.nodes.list({ ids: nodes.map(({ id }) => id) });
    const statuses = ['provisioned', 'provisioned', 'provisioned', 'discover', 'discover'];
    expect(free.map(({ status }) => status)).toEqual(statuses);
    expect(free.every(({ errorType, errorMsg }) => errorType === null && errorMsg === null)).toBe(true);
    const release = await store.releases.create({ name: 'next', version: '1' });
    const next = await store.clusters.create({ name: 'next', releaseId: release.id });
    const assigned = await store.nodes.assign(
      next.id,
      free.map(({ id }) => ({ id, roles: ['a'] })),
    );
    expect(assigned.map(({ pendingAddition }) => pendingAddition)).toEqual([false, false, false, true, true]);
  });

  it('links plugins to a cluster, disabled at first, and keeps settings when only the switch is turned', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const plugin = await store.plugins.create({ name: 'p', version: '1', packageVersion: '5.0.0' });
    expect(await store.plugins.link(cluster.id, plugin.id, { attributes: { a: 1 } })).toMatchObject({ enabled: false });
    expect(await store.plugins.ofCluster(cluster.id, { enabled: true })).toEqual([]);
    const link = await store.plugins.link(cluster.id, plugin.id, { enabled: true });
    expect(link).toEqual({ clusterId: cluster.id, pluginId: plugin.id, enabled: true, attributes: { a: 1 } });
    expect(await store.plugins.ofCluster(cluster.id, { enabled: true })).toEqual([{ plugin, link }]);
  });
});

describeStore('ClusterStore', (backend) => {
  it('makes a cluster with an empty default graph', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withCluster(store);
    expect(cluster).toMatchObject({ mode: 'ha_compact', status: 'new', site: null, primaries: {}, attributes: {} });
    expect(await store.graphs.list({ clusters: [cluster.id] })).toMatchObject([{ type: 'default', tasks: [] }]);
    expect(await store.graphs.list({ releases: [release.id] })).toMatchObject([{ type: 'default', tasks: [] }]);
    const { attributes: _, deploymentInfo, networkConfig: __, anyChoices, primaries, ...brief } = cluster;
    expect([deploymentInfo, anyChoices, primaries]).toEqual([{ common: {}, nodes: {} }, {}, {}]);
    expect(await store.clusters.brief(cluster.id)).toEqual(brief);
    expect(await store.clusters.list({ releaseId: release.id })).toEqual([brief]);
    expect(await failureOf(store.clusters.create({ name: 'one', releaseId: release.id }))).toMatchObject({
      kind: 'conflict',
    });
    expect(await failureOf(store.clusters.create({ name: 'two', releaseId: 99 }))).toMatchObject({ what: 'release' });
  });

  it('refuses impossible ids', async () => {
    const { clusters } = await backend.fresh();
    for (const id of [0, -1, 1.5, Number.NaN, 1e30, 99]) {
      expect(await failureOf(clusters.get(id))).toMatchObject({ kind: 'not-found', what: 'cluster' });
      expect(await failureOf(clusters.brief(id))).toMatchObject({ kind: 'not-found', what: 'cluster' });
    }
  });

  it('accepts as primary only a node of the cluster, and clears it when the node leaves', async () => {
    const store = await backend.fresh();
    const { cluster, nodes } = await withNodes(store, 2);
    const primaries = { controller: nodes[0]!.id, mysql: nodes[1]!.id };
    expect(await store.clusters.update(cluster.id, { primaries })).toMatchObject({ primaries });
    expect(await failureOf(store.clusters.update(cluster.id, { primaries: { mysql: 99 } }))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'primaries.mysql' }],
    });
    await store.nodes.unassign(cluster.id, [nodes[0]!.id]);
    expect((await store.clusters.get(cluster.id)).primaries).toEqual({ mysql: nodes[1]!.id });
  });

  it('leaves only its freed nodes when it is deleted', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const { cluster, nodes } = await withNodes(store, 2);
    const { run, graph } = await withRun(store, cluster.id);
    await store.taskHistory.plan(graph.id, [{ node: '1', task: 't' }]);
    await store.transactions.putSnapshot(graph.id, 'tasks', '[1]');
    const tasks = [{ node: String(nodes[0]!.id), task: 't' }];
    await store.taskStates.record({ clusterId: cluster.id, state: '{}', at: '2026-01-01T00:00:00Z', tasks });
    await store.tags.create({ kind: 'cluster', id: cluster.id }, { name: 'mine' });
    const [node] = nodes;
    await store.tags.assign(cluster.id, [{ nodeId: node!.id, tag: 'mine', source: 'user', role: null }]);
    await store.graphs.put({ kind: 'cluster', id: cluster.id }, 'extra', { tasks: [{ id: 't', type: 'shell' }] });
    await store.clusters.update(cluster.id, { primaries: { mine: node!.id } });

    expect(await failureOf(store.clusters.delete(cluster.id))).toMatchObject({ kind: 'conflict', transaction: run.id });
    await endStoredRun(store, run.id, 'success');
    const holder = { workflowId: 'w', runId: 'r' };
    await store.claims.claim({ cluster: cluster.id }, { ...holder, executionId: 'r' });
    expect(await failureOf(store.clusters.delete(cluster.id))).toMatchObject({ kind: 'conflict', holder });
    await store.claims.release({ cluster: cluster.id }, holder);
    await store.clusters.delete(cluster.id);

    const left: Record<string, unknown> = {};
    for (const table of TABLES_OF_CLUSTERS) {
      const [row] = await backend.sql(url, `select count(*) as rows from ${table}`);
      left[table] = Number(row!.rows);
    }
    expect(left).toEqual({ ...Object.fromEntries(TABLES_OF_CLUSTERS.map((table) => [table, 0])), graph: 1 });
    expect(await store.nodes.list()).toMatchObject(
      nodes.map(({ id }) => ({ id, clusterId: null, roles: [], pendingRoles: [], pendingAddition: false })),
    );
  });
});

const TABLES_OF_CLUSTERS = [
  'cluster',
  'cluster_plugin',
  'cluster_claim',
  'cluster_primary',
  'tag',
  'tag_node_assignment',
  'graph',
  'graph_task',
  'deployment_transaction',
  'transaction_snapshot',
  'task_history',
  'task_state',
  'content',
];

describeStore('ClusterClaimStore', (backend) => {
  it('has exactly one winner when many connections claim, and transfers the claim by compare and swap', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3].map(() => backend.open(url)));
    const { cluster } = await withCluster(stores[0]!);
    const rivals = Array.from({ length: 12 }, (_, n) => ({
      workflowId: `w${n}`,
      runId: `r${n}`,
      executionId: `r${n}`,
    }));
    const claimed = await Promise.all(
      rivals.map((rival, n) => stores[n % 3]!.claims.claim({ cluster: cluster.id }, rival)),
    );
    expect(claimed.filter((result) => result.claimed)).toHaveLength(1);
    const winner = rivals[claimed.findIndex((result) => result.claimed)]!;
    const { claims } = stores[0]!;
    expect(await claims.claim({ cluster: cluster.id }, winner)).toEqual({ claimed: true });
    expect(await claims.holder({ cluster: cluster.id })).toMatchObject(winner);
    const heir = { workflowId: 'heir', runId: 'h', executionId: 'h' };
    expect(await claims.takeOver({ cluster: cluster.id }, heir, winner)).toEqual({ claimed: true });
    expect(
      await claims.takeOver({ cluster: cluster.id }, { workflowId: 'x', runId: 'x', executionId: 'x' }, heir),
    ).toMatchObject({
      claimed: false,
      holder: winner,
    });
    expect(await claims.takeOver({ cluster: cluster.id }, winner, heir)).toEqual({ claimed: true });
    expect(await claims.release({ cluster: cluster.id }, winner)).toBe(false);
    expect(await claims.holder({ cluster: cluster.id })).toMatchObject(heir);
    expect(await claims.release({ cluster: cluster.id }, heir)).toBe(true);
    expect(await claims.holder({ cluster: cluster.id })).toBeNull();
    expect(await failureOf(claims.claim({ cluster: 99 }, heir))).toMatchObject({ kind: 'not-found' });
  });
});

import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { withCluster, withNodes } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

describeStore('NodeStore', (backend) => {
  it('keeps a machine, and fills in missing fields', async () => {
    const { nodes } = await backend.fresh();
    const node = await nodes.create({
      name: 'a',
      mac: '52-54-00-AA-bb-cc',
      meta: { cpu: { total: 4 } },
      labels: { x: null },
    });
    expect(node).toMatchObject({
      hostname: `node-${node.id}`,
      mac: '52:54:00:aa:bb:cc',
      status: 'discover',
      online: true,
      clusterId: null,
      roles: [],
      labels: { x: null },
      meta: { cpu: { total: 4 } },
    });
    expect(await nodes.get(node.id)).toEqual(node);
    const changed = await nodes.update(node.id, { status: 'error', errorType: 'deploy', errorMsg: 'x', online: false });
    expect(changed).toMatchObject({ status: 'error', errorType: 'deploy', online: false, mac: node.mac });
    expect(await nodes.update(node.id, { errorType: null, mac: null })).toMatchObject({ errorType: null, mac: null });
  });

  it('has one node of a MAC, a UUID, and a hostname on a site', async () => {
    const { nodes } = await backend.fresh();
    const one = await nodes.create({ name: 'a', mac: '52:54:00:00:00:01', site: 'dc1', hostname: 'web' });
    const taken = { kind: 'conflict', message: expect.stringContaining(`Node ${one.id} has`) };
    expect(await failureOf(nodes.create({ name: 'b', mac: '52:54:00:00:00:01' }))).toMatchObject(taken);
    expect(await failureOf(nodes.create({ name: 'b', uuid: one.uuid }))).toMatchObject(taken);
    expect(await failureOf(nodes.create({ name: 'b', site: 'dc1', hostname: 'web' }))).toMatchObject(taken);
    const other = await nodes.create({ name: 'b', site: 'dc2', hostname: 'web' });
    expect(await failureOf(nodes.update(other.id, { site: 'dc1' }))).toMatchObject(taken);
    await nodes.create({ name: 'c', hostname: 'web' });
    await nodes.create({ name: 'd', hostname: 'web' });
    const wrong = nodes.create({ name: '', mac: 'nonsense', site: 'A B' });
    expect(await failureOf(wrong)).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'name' }, { path: 'site' }, { path: 'mac' }],
    });
  });

  it('filters by all given criteria', async () => {
    const store = await backend.fresh();
    const { cluster, nodes } = await withNodes(store, 2);
    const free = await store.nodes.create({ name: 'free', labels: { rack: '1', os: null }, online: false, groupId: 7 });
    await store.nodes.update(nodes[0]!.id, { labels: { rack: '2' }, roles: ['compute'], status: 'ready' });
    const shown = async (filter: Parameters<typeof store.nodes.list>[0]) =>
      (await store.nodes.list(filter)).map(({ name }) => name);
    expect(await shown({})).toEqual(['one-0', 'one-1', 'free']);
    expect(await shown({ clusterId: cluster.id })).toEqual(['one-0', 'one-1']);
    expect(await shown({ clusterId: null })).toEqual(['free']);
    expect(await shown({ roles: ['compute', 'x'] })).toEqual(['one-0']);
    expect(await shown({ roles: ['controller'] })).toEqual(['one-0', 'one-1']);
    expect(await shown({ labels: { rack: undefined } })).toEqual(['one-0', 'free']);
    expect(await shown({ labels: { rack: ['1', '3'], os: [null] } })).toEqual(['free']);
    expect(await shown({ statuses: ['ready'], online: true })).toEqual(['one-0']);
    expect(await shown({ online: false })).toEqual(['free']);
    expect(await shown({ groupId: 7, ids: [free.id, 99] })).toEqual(['free']);
    expect(await shown({ roles: [] })).toEqual([]);
    expect(await shown({ ids: [Number.NaN] })).toEqual([]);
  });

  it('adds nodes to a cluster, all or none', async () => {
    const store = await backend.fresh();
    const { cluster, nodes } = await withNodes(store, 1);
    const other = await withCluster(store, 'two');
    const free = await store.nodes.create({ name: 'free' });
    const both = [free.id, nodes[0]!.id].map((id) => ({ id, roles: ['compute'] }));
    expect(await failureOf(store.nodes.assign(other.cluster.id, both))).toMatchObject({
      kind: 'conflict',
      users: [{ kind: 'node', id: nodes[0]!.id }],
    });
    expect(await failureOf(store.nodes.assign(cluster.id, [...both, { id: 99, roles: [] }]))).toMatchObject({
      kind: 'not-found',
    });
    expect((await store.nodes.get(free.id)).clusterId).toBeNull();
    await store.nodes.update(nodes[0]!.id, { roles: ['controller'], pendingRoles: [], pendingAddition: false });
    const roles = ['controller', 'compute'];
    expect(
      await store.nodes.assign(cluster.id, [
        { id: free.id, roles },
        { id: nodes[0]!.id, roles },
      ]),
    ).toMatchObject([
      { id: free.id, clusterId: cluster.id, pendingRoles: roles, pendingAddition: true },
      { id: nodes[0]!.id, roles: ['controller'], pendingRoles: ['compute'], pendingAddition: false },
    ]);
  });

  it('removes nodes from a cluster with all their data there', async () => {
    const store = await backend.fresh();
    const { cluster, nodes } = await withNodes(store, 2);
    const [one, other] = nodes.map(({ id }) => id);
    await store.tags.assign(cluster.id, [{ nodeId: one!, tag: 'mysql:1', source: 'user', role: null }]);
    const tasks = [String(one), String(other)].map((node) => ({ node, task: 't' }));
    await store.taskStates.record({ clusterId: cluster.id, state: '{}', at: '2026-01-01T00:00:00Z', tasks });
    const stranger = await store.nodes.create({ name: 'x' });
    expect(await failureOf(store.nodes.unassign(cluster.id, [one!, stranger.id]))).toMatchObject({ kind: 'invalid' });
    const freed = { id: one, clusterId: null, pendingRoles: [], pendingAddition: false };
    expect(await store.nodes.unassign(cluster.id, [one!])).toMatchObject([freed]);
    expect(await store.tags.assignments(cluster.id)).toEqual([]);
    expect((await store.taskStates.read(cluster.id)).tasks).toMatchObject([tasks[1]!]);
    expect(await failureOf(store.nodes.delete(other!))).toMatchObject({
      kind: 'conflict',
      users: [{ id: cluster.id }],
    });
    await store.nodes.delete(other!, { force: true });
    expect((await store.taskStates.read(cluster.id)).tasks).toEqual([]);
    await store.nodes.delete(one!);
    expect(await store.nodes.list()).toMatchObject([{ id: stranger.id }]);
  });

  it('changes several nodes, all or none', async () => {
    const { nodes } = await backend.fresh();
    const ids = [(await nodes.create({ name: 'a' })).id, (await nodes.create({ name: 'b' })).id];
    const change = { status: 'ready', progress: 100 };
    const changed = await nodes.updateMany(ids.toReversed().map((id) => ({ id, change })));
    expect(changed).toMatchObject(ids.toReversed().map((id) => ({ id, ...change })));
    const lost = [ids[0]!, 99].map((id) => ({ id, change: { status: 'error' } }));
    expect(await failureOf(nodes.updateMany(lost))).toMatchObject({ kind: 'not-found' });
    expect((await nodes.get(ids[0]!)).status).toBe('ready');
    const twice = [ids[0]!, ids[0]!].map((id) => ({ id, change }));
    expect(await failureOf(nodes.updateMany(twice))).toMatchObject({ kind: 'invalid' });
  });
});

import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { withNodes } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

describeStore('TagStore', (backend) => {
  it('keeps tags by owner and name', async () => {
    const store = await backend.fresh();
    const { release, cluster } = await withNodes(store, 1);
    const [ofRelease, ofCluster] = [
      { kind: 'release', id: release.id },
      { kind: 'cluster', id: cluster.id },
    ] as const;
    const made = await store.tags.create(ofCluster, { name: 'swift', hasPrimary: true, metadata: { a: 1 } });
    expect(made).toMatchObject({ owner: ofCluster, readOnly: false, hasPrimary: true, metadata: { a: 1 } });
    expect(await failureOf(store.tags.create(ofCluster, { name: 'swift' }))).toMatchObject({ kind: 'conflict' });
    await store.tags.create(ofRelease, { name: 'swift' });
    await store.tags.create(ofRelease, { name: 'base' });
    const shown = (await store.tags.ofCluster(cluster.id)).map(({ name, owner }) => `${name} of ${owner.kind}`);
    expect(shown).toEqual(['base of release', 'swift of release', 'swift of cluster']);
    expect(await store.tags.find(ofCluster, 'base')).toBeNull();
    expect(await store.tags.update(made.id, { hasPrimary: false })).toEqual({ ...made, hasPrimary: false });
    expect(await store.tags.update(made.id, {})).toMatchObject({ name: 'swift' });
    expect(await failureOf(store.tags.list({ kind: 'plugin', id: 9 }))).toMatchObject({ what: 'plugin' });
  });

  it('updates the tags of roles to the current roles, and refuses to delete them', async () => {
    const store = await backend.fresh();
    const { release } = await withNodes(store, 1);
    const owner = { kind: 'release', id: release.id } as const;
    await store.tags.create(owner, { name: 'mine' });
    const [first] = await store.tags.replaceReadOnly(owner, [{ name: 'a' }, { name: 'b', hasPrimary: true }]);
    const tags = await store.tags.replaceReadOnly(owner, [{ name: 'a', hasPrimary: true }, { name: 'mine' }]);
    expect(tags).toMatchObject([
      { id: first!.id, name: 'a', readOnly: true, hasPrimary: true },
      { name: 'mine', readOnly: false },
    ]);
    expect(await failureOf(store.tags.delete(first!.id))).toMatchObject({ kind: 'conflict' });
    await store.tags.delete(first!.id, { force: true });
    expect(await failureOf(store.tags.get(first!.id))).toMatchObject({ kind: 'not-found', what: 'tag' });
  });

  it('assigns and removes tags of nodes, in bulk', async () => {
    const store = await backend.fresh();
    const { cluster, nodes } = await withNodes(store, 2);
    const [one, two] = nodes.map(({ id }) => id) as [number, number];
    const given = [
      { nodeId: one, tag: 'mysql', source: 'role', role: 'controller' },
      { nodeId: one, tag: 'mysql', source: 'role', role: 'database' },
      { nodeId: one, tag: 'mysql:1', source: 'extension', role: 'controller' },
      { nodeId: two, tag: 'mysql', source: 'user', role: null },
    ] as const;
    for (const _ of [1, 2]) await store.tags.assign(cluster.id, given);
    const clusterId = cluster.id;
    expect(await store.tags.assignments(clusterId)).toEqual(given.map((row) => ({ clusterId, ...row })));
    expect(await store.tags.assignments(clusterId, { roles: [null] })).toHaveLength(1);
    expect(await store.tags.unassign(clusterId, { nodeIds: [one], roles: ['controller'] })).toBe(2);
    expect(await store.tags.assignments(clusterId, { nodeIds: [one] })).toMatchObject([
      { tag: 'mysql', role: 'database' },
    ]);
    const strange = [{ nodeId: 99, tag: 'x', source: 'user', role: null }] as const;
    expect(await failureOf(store.tags.assign(clusterId, strange))).toMatchObject({ kind: 'invalid' });
    expect(await store.tags.assignments(clusterId)).toHaveLength(2);
    expect(await store.tags.unassign(clusterId, { tags: [] })).toBe(0);
  });

  it('removes a deleted tag and its instances from nodes, unless another tag has the name', async () => {
    const store = await backend.fresh();
    const { release, cluster, nodes } = await withNodes(store, 1);
    const nodeId = nodes[0]!.id;
    const ofRelease = await store.tags.create({ kind: 'release', id: release.id }, { name: 'db' });
    const ofCluster = await store.tags.create({ kind: 'cluster', id: cluster.id }, { name: 'db' });
    await store.tags.assign(
      cluster.id,
      ['db', 'db:1', 'db-other', 'd'].map((tag) => ({ nodeId, tag, source: 'user', role: null }) as const),
    );
    const shown = async () => (await store.tags.assignments(cluster.id)).map(({ tag }) => tag);
    await store.tags.delete(ofCluster.id);
    expect(await shown()).toEqual(['d', 'db', 'db-other', 'db:1']);
    await store.tags.delete(ofRelease.id);
    expect(await shown()).toEqual(['d', 'db-other']);
  });
});

describeStore('PackageStore', (backend) => {
  const pack = { name: 'stack', version: '1.0', packageVersion: '5.0.0', kind: 'release' };

  it('keeps archives to the byte, and replaces in place', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const archive = Uint8Array.from({ length: 100_000 }, (_, n) => (n * 7) % 256);
    const first = await store.packages.put({ ...pack, archive, metadata: { tree: [] } });
    expect(first).toMatchObject({ created: true, package: { size: 100_000, metadata: { tree: [] } } });
    expect(Buffer.from(await store.packages.readArchive(first.package.id)).equals(archive)).toBe(true);
    const second = await store.packages.put({ ...pack, archive: Uint8Array.of(1), metadata: {} });
    expect(second).toMatchObject({ created: false, package: { id: first.package.id, size: 1 } });
    expect(await store.packages.list()).toEqual([second.package]);
    expect(await store.packages.find('stack', '1.0')).toEqual(second.package);
    await backend.sql(url, `update package set checksum = 'x'`);
    expect(await failureOf(store.packages.readArchive(first.package.id))).toMatchObject({ kind: 'corrupt' });
  });

  it('removes a package with its releases and plugins, or not at all', async () => {
    const store = await backend.fresh();
    const { package: made } = await store.packages.put({ ...pack, archive: Uint8Array.of() });
    const release = await store.releases.create({ name: 'r', version: '1', packageId: made.id });
    const plugin = await store.plugins.create({ name: 'p', version: '1', packageVersion: '5', packageId: made.id });
    const cluster = await store.clusters.create({ name: 'c', releaseId: release.id });
    await store.plugins.link(cluster.id, plugin.id, { enabled: true });
    const users = [{ kind: 'cluster', id: cluster.id, name: 'c' }];
    expect(await failureOf(store.packages.delete(made.id))).toMatchObject({ kind: 'conflict', users });
    expect(await store.releases.list()).toHaveLength(1);
    await store.clusters.delete(cluster.id);
    await store.packages.delete(made.id);
    expect(await store.releases.list()).toEqual([]);
    expect(await store.plugins.list()).toEqual([]);
    const orphan = store.releases.create({ name: 'r', version: '1', packageId: made.id });
    expect(await failureOf(orphan)).toMatchObject({ what: 'package' });
  });
});

import type { Store } from '../../../src/store/index.ts';

/** A release with a cluster of it. */
export async function withCluster(store: Store, name = 'one') {
  const release =
    (await store.releases.find('stack', '1.0')) ?? (await store.releases.create({ name: 'stack', version: '1.0' }));
  const cluster = await store.clusters.create({ name, releaseId: release.id });
  return { release, cluster };
}

/** The same with nodes in it, each with the role `controller`. */
export async function withNodes(store: Store, count: number, name = 'one') {
  const { release, cluster } = await withCluster(store, name);
  const ids: number[] = [];
  for (let n = 0; n < count; n++) ids.push((await store.nodes.create({ name: `${name}-${n}` })).id);
  const roles = ['controller'];
  const nodes = await store.nodes.assign(
    cluster.id,
    ids.map((id) => ({ id, roles })),
  );
  return { release, cluster, nodes };
}

/** A run of the cluster with one graph; returns the graph's transaction. */
export async function withRun(store: Store, clusterId: number) {
  const { run, graphs } = await store.transactions.createRun({ clusterId, graphs: [{ graphType: 'default' }] });
  return { run, graph: graphs[0]! };
}

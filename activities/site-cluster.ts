import { agentAddress } from '../src/clusters/index.js';
import { type NodeRecord, type Store, StoreError } from '../src/store/index.js';

/** The cluster that is built of a site's machines: the one the site names, else the first that names the site. */
export async function clusterOfSite(store: Store, site: string): Promise<number | undefined> {
  const [{ cluster }, linked] = await Promise.all([store.sites.get(site), store.clusters.list({ site })]);
  if (cluster === null) return linked[0]?.id;
  if (/^\d+$/.test(cluster)) {
    const [named] = await store.clusters.list({ ids: [Number(cluster)] });
    if (named !== undefined) return named.id;
  }
  return (await store.clusters.find(cluster))?.id;
}

/** Statuses of nodes that have no system of ours yet. */
const WITHOUT_SYSTEM: ReadonlySet<string> = new Set(['discover', 'provisioning']);

/**
 * Tells the inventory that machines of a site have their systems, so that graphs take their nodes; those it does not know
 * yet it takes in, for a cluster to come. A node that was ready before is `provisioned` again only when it was really
 * deployed anew: everything on it is to be done again then.
 *
 * @param names of the nodes, as the site's documents have them
 */
export async function markProvisioned(
  store: Store,
  site: string,
  names: readonly string[],
  anew: boolean,
): Promise<void> {
  if (names.length === 0) return;
  const id = await clusterOfSite(store, site);
  const [cluster, members, machines] = await Promise.all([
    id === undefined ? undefined : store.clusters.brief(id),
    id === undefined ? [] : store.nodes.list({ clusterId: id }),
    store.nodes.list({ site }),
  ]);
  const known = new Map<string, NodeRecord[]>();
  const called = (name: string | null, node: NodeRecord) => {
    if (name !== null) known.set(name, [...(known.get(name) ?? []), node]);
  };
  for (const node of members) {
    called(node.hostname, node);
    if (cluster !== undefined) called(agentAddress({ cluster, nodes: members }, node).node, node);
  }
  // Machines of the site that are of another cluster are that one's business.
  for (const node of machines.filter(({ clusterId }) => clusterId === null || clusterId === id)) {
    called(node.hostname, node);
    called(node.name, node);
  }
  const all = new Set(names.flatMap((name) => known.get(name) ?? []).map((node) => node.id));
  const byId = new Map([...members, ...machines].map((node) => [node.id, node]));
  const changed = [...all].filter((one) => {
    const { pendingAddition, errorType, status } = byId.get(one)!;
    return anew || pendingAddition || errorType === 'provision' || WITHOUT_SYSTEM.has(status);
  });
  if (changed.length > 0) await store.nodes.updateMany(changed.map((one) => ({ id: one, change: PROVISIONED })));
  const foreign = new Set(machines.flatMap(({ name, hostname }) => [name, hostname]));
  for (const name of names.filter((one) => !known.has(one) && !foreign.has(one))) await takeIn(store, site, name);
}

async function takeIn(store: Store, site: string, name: string): Promise<void> {
  try {
    await store.nodes.create({ name, hostname: name, site, status: 'provisioned', online: true });
  } catch (error) {
    // Another try of the same call was quicker.
    if (!(error instanceof StoreError && error.failure.kind === 'conflict')) throw error;
  }
}

const PROVISIONED = {
  status: 'provisioned',
  pendingAddition: false,
  online: true,
  errorType: null,
  errorMsg: null,
} as const;

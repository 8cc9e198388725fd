import { agentAddress } from '../src/clusters/index.js';
import type { Store } from '../src/store/index.js';

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
 * Tells the inventory that machines of a site have their systems, so that graphs take their nodes. A node that was ready
 * before is `provisioned` again only when it was really deployed anew: everything on it is to be done again then.
 *
 * @param names of the nodes, as the site's documents have them
 */
export async function markProvisioned(
  store: Store,
  site: string,
  names: readonly string[],
  anew: boolean,
): Promise<void> {
  const id = names.length === 0 ? undefined : await clusterOfSite(store, site);
  if (id === undefined) return;
  const [cluster, nodes] = await Promise.all([store.clusters.brief(id), store.nodes.list({ clusterId: id })]);
  const wanted = new Set(names);
  const changed = nodes.filter((node) => {
    const { hostname, pendingAddition, errorType, status } = node;
    if (!wanted.has(hostname) && !wanted.has(agentAddress({ cluster, nodes }, node).node)) return false;
    return anew || pendingAddition || errorType === 'provision' || WITHOUT_SYSTEM.has(status);
  });
  if (changed.length > 0) await store.nodes.updateMany(changed.map((node) => ({ id: node.id, change: PROVISIONED })));
}

const PROVISIONED = {
  status: 'provisioned',
  pendingAddition: false,
  online: true,
  errorType: null,
  errorMsg: null,
} as const;

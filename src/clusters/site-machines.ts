import type { NodeRecord, Store, StorePorts } from '../store/index.ts';
import { agentAddress } from './agent-address.ts';
import { clusterOfSite } from './cluster-of-site.ts';

/** The nodes of a site and its cluster, by every name that documents may have for them. */
export async function machinesOfSite(store: Pick<StorePorts, 'clusters' | 'nodes' | 'sites'>, site: string) {
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
  // Skip machines of the site that belong to another cluster.
  for (const node of machines.filter(({ clusterId }) => clusterId === null || clusterId === id)) {
    called(node.hostname, node);
    called(node.name, node);
  }
  const foreign = new Set(machines.flatMap(({ name, hostname }) => [name, hostname]));
  /** Those of the names that the inventory does not have. */
  const missing = (names: readonly string[]): readonly string[] =>
    names.filter((name) => !known.has(name) && !foreign.has(name));
  return { known, members, machines, missing };
}

type Revisions = Store['sites'];

/** Stores a revision, with its machines in the inventory: both, or neither. */
export const commitRevision = (
  store: Store,
  site: string,
  revision: Parameters<Revisions['addRevision']>[1],
): ReturnType<Revisions['addRevision']> =>
  store.atomically(async (within) => {
    // Holds the site: what another commit stores at the same time is read below, or comes after this one.
    const stored = await within.sites.addRevision(site, revision);
    if (revision.resolved !== null) {
      const names = new Set(revision.resolved.nodes.map(({ name }) => name));
      const number = stored.revision.number - 1;
      const hasBefore = stored.created && number > 0;
      const before = hasBefore ? (await within.sites.resolvedRevision(site, { number })).site : null;
      const gone = (before?.nodes ?? []).flatMap(({ name }) => (names.has(name) ? [] : [name]));
      await enter(within, site, [...names], gone);
    }
    return stored;
  });

/** Adds the machines of a site's documents to the inventory: whatever becomes of one, it is in every list. */
export const enterMachines = (store: Store, site: string, names: readonly string[]): Promise<void> =>
  store.atomically(async (within) => {
    await within.sites.hold(site);
    await enter(within, site, names, []);
  });

/** @param gone names that the documents had before, and have no more: a machine that nothing was ever done with goes with its name */
async function enter(
  within: StorePorts,
  site: string,
  names: readonly string[],
  gone: readonly string[],
): Promise<void> {
  const { known, missing } = await machinesOfSite(within, site);
  // A node is known by its name and its host name.
  const left = new Set(gone.flatMap((name) => known.get(name) ?? []).filter(isNameAlone));
  for (const { id } of left) await within.nodes.delete(id);
  for (const name of missing(names)) await within.nodes.create({ name, hostname: name, site });
}

/** Whether nothing is known of a machine but its name. */
export const isNameAlone = ({ status, clusterId, mac, ip, errorMsg }: NodeRecord): boolean =>
  status === 'discover' && clusterId === null && mac === null && ip === null && errorMsg === null;

import type { MaintenanceNote } from '../core/maintenance.ts';
import type { Maintenance, NodeRecord, Store } from '../store/index.ts';
import { agentAddress } from './agent-address.ts';
import { clusterOfSite } from './cluster-of-site.ts';

type NamedNode = Pick<NodeRecord, 'id' | 'name' | 'hostname' | 'site'>;

interface Members {
  /** The cluster of the nodes; null for nodes of none. */
  readonly cluster: { readonly id: number; readonly site: string | null } | null;
  readonly nodes: readonly NamedNode[];
}

/**
 * By which name the store has a node that is put into maintenance: as a machine of its site, by its name in the documents, so that
 * runs of the site and of its cluster find the same; any other node by its id.
 */
export function maintenanceKey({ cluster, nodes }: Members, node: NamedNode): Pick<Maintenance, 'site' | 'node'> {
  const site = node.site ?? cluster?.site ?? null;
  if (site === null) return byId(node);
  return { site, node: agentAddress({ cluster: { id: cluster?.id ?? 0, site }, nodes }, node).node };
}

const byId = ({ id }: NamedNode) => ({ site: '', node: String(id) });

/** Finds what is said of a node in maintenance, by every name that the store may have for it: names and clusters change. */
export function maintenanceOf(all: readonly Maintenance[], members: Members, node: NamedNode): Maintenance | undefined {
  if (all.length === 0) return undefined;
  const key = maintenanceKey(members, node);
  const site = node.site ?? members.cluster?.site;
  const isOf = (one: Maintenance, of: Pick<Maintenance, 'site' | 'node'>): boolean =>
    one.site === of.site && one.node === of.node;
  return all.find(
    (one) =>
      isOf(one, key) || isOf(one, byId(node)) || (one.site !== '' && one.site === site && one.node === node.hostname),
  );
}

/** What plans and lists say of it. */
export const noteOf = (one: Maintenance | undefined): MaintenanceNote | undefined =>
  one && { reason: one.reason, since: one.since, by: one.by };

/** What is said of the nodes of a site that are in maintenance, by their names in its documents. */
export async function maintenanceOfSite(
  store: Pick<Store, 'clusters' | 'nodeMaintenance' | 'nodes' | 'sites'>,
  site: string,
): Promise<ReadonlyMap<string, MaintenanceNote>> {
  const all = await store.nodeMaintenance.list();
  const notes = new Map<string, MaintenanceNote>();
  // A node may have been put into maintenance by its id, before it had a site.
  const byId = new Map(all.filter((one) => one.site === '').map((one) => [Number(one.node), one]));
  if (byId.size > 0) {
    const cluster = await clusterOfSite(store, site);
    for (const { id, name, hostname, site: own, clusterId } of await store.nodes.list({ ids: [...byId.keys()] }))
      if (own === site || (clusterId !== null && clusterId === cluster))
        for (const called of [name, hostname]) notes.set(called, noteOf(byId.get(id))!);
  }
  for (const one of all) if (one.site === site) notes.set(one.node, noteOf(one)!);
  return notes;
}

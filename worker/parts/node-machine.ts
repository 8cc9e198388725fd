import type { MaasParts, NodeMachine } from '../../activities/node/task-maas.ts';
import { SiteCache } from '../../activities/site/cache.ts';
import { agentAddress } from '../../src/clusters/agent-address.ts';
import { standingIn } from '../../src/clusters/node-choice.ts';
import { readClusterSources } from '../../src/clusters/read-sources.ts';
import { uidOf } from '../../src/clusters/sources.ts';
import { given } from '../../src/core/data/given.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';
import { type NodeRecord, type Store, StoreError } from '../../src/store/index.ts';
import { graphOfRun } from './graph-of-run.ts';

/**
 * Finds the MAAS machine of a node in the cluster of a graph. For a node of a site its documents decide, as for runs of
 * the site: nodes are called there as MAAS calls their machines, and the host name in the inventory may be a mere
 * `node-7` that the store gave.
 */
export function machinesOfNodes(store: Store): MaasParts['machineOf'] {
  const sites = new SiteCache(store);
  return async (run, node) => {
    try {
      const clusterId = (await graphOfRun(store, run))?.graph.clusterId ?? null;
      if (clusterId === null) return undefined;
      const sources = await readClusterSources(store, clusterId);
      const row = sources.nodes.find((one) => uidOf(one) === node || agentAddress(sources, one).node === node);
      if (row === undefined) return undefined;
      const { site, node: agent } = agentAddress(sources, row);
      const record = await store.nodes.get(row.id);
      const known = { site, agent, standing: standingIn(row) };
      if (sources.cluster.site === null) return { ...known, ...inInventory(record, record.hostname) };
      const document = await documentOf(store, sites, site, [agent, ...namesOf(record)]);
      if (document !== undefined) {
        const deployed = await store.deployedMachines.get(site, document.name);
        return { ...known, ...inDocuments(document, record), known: deployed };
      }
      return { ...known, ...inInventory(record, agent) };
    } catch (error) {
      if (error instanceof StoreError && error.failure.kind === 'not-found') return undefined;
      throw error;
    }
  };
}

type Identity = Pick<NodeMachine, 'hostname' | 'bootMac' | 'domain' | 'deployedAs'>;

const inInventory = ({ mac }: NodeRecord, hostname: string): Identity => ({
  hostname,
  ...(mac === null ? {} : { bootMac: mac }),
});

const inDocuments = ({ name, boot_mac: bootMac = undefined, domain }: ResolvedNode, { mac }: NodeRecord): Identity => ({
  hostname: name,
  deployedAs: name,
  ...(bootMac === undefined && mac === null ? {} : { bootMac: bootMac ?? mac! }),
  ...given({ domain }),
});

/** The names by which documents may have a node. One from the store reveals nothing about its machine. */
const namesOf = ({ id, name, hostname }: NodeRecord): readonly string[] =>
  [name, hostname].filter((one): one is string => one !== null && one !== `node-${id}`);

/** The node in the newest revision, or in the last good one: it may have been removed from the documents first. */
async function documentOf(
  store: Store,
  sites: SiteCache,
  site: string,
  names: readonly string[],
): Promise<ResolvedNode | undefined> {
  const { lastGoodRevision, latestRevision } = await store.sites.get(site);
  for (const revision of [latestRevision, lastGoodRevision]) {
    if (revision === null) continue;
    const { site: resolved } = await sites.load(site, { number: revision });
    for (const name of names) {
      const found = resolved?.nodes.find((one) => one.name === name);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

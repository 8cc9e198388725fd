import { isMaasFailure, type MachineContext } from '@sitewright/maas';
import { clusterOfSite } from '../../src/clusters/cluster-of-site.ts';
import { readClusterSources } from '../../src/clusters/read-sources.ts';
import { type VirtualAddress, virtualAddresses } from '../../src/clusters/virtual-addresses.ts';
import { isMapping } from '../../src/core/data/plain-value.ts';
import type { Store } from '../../src/store/index.ts';

/** How many other addresses are tried where someone else is faster. */
const TRIES = 5;

/** An address that is reserved, or why none is. */
type Reservation = { readonly ip: string } | { readonly why: string };

/**
 * Reserves the virtual addresses of a site's cluster in MAAS, so that no machine gets them, and chooses those that are
 * not set. A choice is stored before it is reserved: another try finds it, and reserves no second address.
 *
 * @param acting called before each change; if it rejects, nothing more is changed
 */
export async function reserveAddresses(
  store: Store,
  { client: { addresses, layouts } }: Pick<MachineContext, 'client'>,
  site: string,
  acting: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<{ warnings: string[]; changes: string[] }> {
  const warnings: string[] = [];
  const changes: string[] = [];
  const cluster = await clusterOfSite(store, site);
  if (cluster === undefined) return { warnings, changes };
  const sources = await readClusterSources(store, cluster);
  // Most clusters have none: MAAS is not asked for them.
  if (virtualAddresses(sources, []).length === 0) return { warnings, changes };
  const { subnets } = await layouts.networks(signal);
  const reserved = new Set(await addresses.reserved(signal));
  const wanted = virtualAddresses(sources, subnets).filter(({ ip }) => ip === undefined || !reserved.has(ip));

  const reserve = async (ip: string): Promise<Reservation> => {
    try {
      await acting();
      await addresses.reserve(ip, signal);
      return { ip };
    } catch (error) {
      if (isMaasFailure(error, 'forbidden', 'invalid', 'not-found', 'conflict-state', 'no-such-endpoint'))
        return { why: error.message };
      throw error;
    }
  };
  const choose = async ({ name, subnet }: VirtualAddress): Promise<Reservation> => {
    if (subnet === undefined) return { why: 'MAAS has no subnet of its network: set it in the network configuration' };
    let why = `subnet ${subnet.cidr} has no free address`;
    for (let tries = 0; tries < TRIES; tries += 1) {
      // MAAS gives machines the first ones.
      const ip = (await addresses.free(subnet.id, signal)).at(-1)?.end;
      if (ip === undefined) return { why };
      await acting();
      await keep(store, cluster, name, ip);
      const reservation = await reserve(ip);
      if ('ip' in reservation) return reservation;
      why = reservation.why;
      await keep(store, cluster, name, undefined);
    }
    return { why };
  };
  for (const address of wanted) {
    const reservation = address.ip === undefined ? await choose(address) : await reserve(address.ip);
    if ('ip' in reservation) changes.push(`${reservation.ip} was reserved in MAAS as virtual address ${address.name}`);
    else warnings.push(`virtual address ${address.name} is not reserved in MAAS: ${reservation.why}`);
  }
  return { warnings, changes };
}

/** Stores the address in the network configuration, or takes it out. */
async function keep(store: Store, cluster: number, name: string, ip: string | undefined): Promise<void> {
  await store.atomically(async (within) => {
    const { networkConfig } = await within.clusters.get(cluster);
    const vips = isMapping(networkConfig.vips) ? { ...networkConfig.vips } : {};
    if (ip === undefined) delete vips[name];
    else vips[name] = { ipaddr: ip };
    await within.clusters.change(cluster, { networkConfig: { ...networkConfig, vips } });
  });
}

import { isMapping } from '../core/data/plain-value.ts';
import type { Fields } from '../graph/index.ts';
import type { ClusterSources } from './sources.ts';
import { networksOf, rolesOf } from './state/node-networks.ts';

/** A subnet that MAAS has. */
interface SubnetPlace {
  readonly id: number;
  readonly name: string;
  readonly cidr: string;
  readonly space: string;
}

/** An address that a service has, whichever node has it at the moment. */
export interface VirtualAddress {
  readonly name: string;
  /** Where it is; undefined where MAAS has no such network. */
  readonly subnet: SubnetPlace | undefined;
  /** Undefined as long as none was chosen. */
  readonly ip: string | undefined;
}

/**
 * The virtual addresses of a cluster: those that roles of networks of its release and plugins declare
 * (`properties.vip`, as Fuel's), and those of its network configuration.
 */
export function virtualAddresses(
  sources: Pick<ClusterSources, 'cluster' | 'release' | 'plugins'>,
  subnets: readonly SubnetPlace[],
): readonly VirtualAddress[] {
  const places = subnets.map((subnet) => ({
    subnet,
    at: { cidr: subnet.cidr, subnet: subnet.name, space: subnet.space },
  }));
  const networks = networksOf(
    sources,
    places.map(({ at }) => at),
  );
  const found = new Map<string, VirtualAddress>();
  for (const { network, fields } of rolesOf(sources)) {
    const isThere = networks.get(network);
    const subnet = isThere && places.find(({ at }) => isThere(at))?.subnet;
    for (const { name } of declared(fields))
      if (typeof name === 'string') found.set(name, { name, subnet, ip: undefined });
  }
  const { vips } = sources.cluster.networks;
  for (const [name, vip] of Object.entries(isMapping(vips) ? vips : {})) {
    const ip = isMapping(vip) && typeof vip.ipaddr === 'string' && vip.ipaddr !== '' ? vip.ipaddr : undefined;
    if (ip !== undefined) found.set(name, { name, subnet: found.get(name)?.subnet, ip });
  }
  return [...found.values()];
}

function declared({ properties }: Fields): readonly Fields[] {
  const vips = isMapping(properties) ? properties.vip : undefined;
  return Array.isArray(vips) ? vips.filter(isMapping) : [];
}

import type { Seed } from '@sitewright/maas-simulator';
import { given } from '../../src/core/data/given.ts';
import { assumedHardware, type ResolvedNode, type ResolvedSite } from '../../src/documents/index.ts';

type SeedMachine = NonNullable<Seed['machines']>[number];
type SeedNetwork = NonNullable<Seed['networks']>[number];

/**
 * The region that the documents of a site were written for: images and kernels, subnets and VLANs, and bare machines with the cards and
 * disks that their nodes name, at the addresses where hardware profiles have them.
 */
export const seedOfSite = ({ nodes, networks }: Pick<ResolvedSite, 'nodes' | 'networks'>): Seed => ({
  images: imagesOf(nodes),
  networks: networksOf(nodes, networks),
  machines: nodes.map(machineOf),
});

function imagesOf(nodes: readonly ResolvedNode[]): NonNullable<Seed['images']> {
  const kernels = new Map<string, Set<string>>();
  for (const { distro_series: series, hwe_kernel: kernel } of nodes) {
    if (series === undefined) continue;
    const name = series.includes('/') ? series : `ubuntu/${series}`;
    const known = kernels.get(name) ?? new Set();
    kernels.set(name, kernel === undefined ? known : known.add(kernel));
  }
  return [...kernels].map(([name, names]) => ({ name, kernels: [...names] }));
}

/** Networks that share a port are VLANs of one fabric; others have fabrics of their own. */
function networksOf(nodes: readonly ResolvedNode[], settings: ResolvedSite['networks']): SeedNetwork[] {
  const made = new Map<string, { cidr?: string; vid: number; fabric: number; mtu?: number }>();
  let fabrics = FIRST_FABRIC;
  for (const { networks } of nodes.flatMap(({ layout }) => layout?.ports ?? [])) {
    const known = networks.flatMap(({ network }) => made.get(network)?.fabric ?? []);
    const fabric = known[0] ?? fabrics++;
    for (const one of made.values()) if (known.includes(one.fabric)) one.fabric = fabric;
    for (const { network, cidr, vlan, mtu } of networks) {
      const before = made.get(network);
      const vid = vlan ?? before?.vid ?? 0;
      made.set(network, { ...before, ...given({ cidr, mtu: mtu ?? before?.mtu }), vid, fabric });
    }
  }
  const attached = [...made.values()];
  const all = settings.flatMap(({ cidr, routes }) => [cidr, ...routes.map(({ destination }) => destination)]);
  const others = [...new Set(all)].filter((cidr) => !attached.some((one) => one.cidr === cidr));
  return [...attached, ...others.map((cidr) => ({ cidr, fabric: fabrics++ }))];
}

const FIRST_FABRIC = 10;

function machineOf(node: ResolvedNode): SeedMachine {
  const { hostname, domain, boot_mac: mac, layout } = node;
  const { cards, disks } = assumedHardware(node);
  const parts = layout?.storage?.disks.flatMap(({ partitions }) => partitions) ?? [];
  return {
    hostname,
    status: 0,
    power_type: 'ipmi',
    ...given({ domain }),
    ...(cards.length > 0 ? { interfaces: cards.map((card) => ({ ...card, discovered: null })) } : given({ mac })),
    ...(disks.length > 0 && { disks }),
    ...(parts.some(({ filesystem }) => filesystem?.mountPoint === '/boot/efi') && { uefi: true }),
  };
}

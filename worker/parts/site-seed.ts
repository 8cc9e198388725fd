import { type MachineLayout, sizeInBytes } from '@sitewright/maas/machine-layout';
import type { Seed } from '@sitewright/maas-simulator';
import { given } from '../../src/core/data/given.ts';
import type { ResolvedNode, ResolvedSite } from '../../src/documents/index.ts';

type SeedMachine = NonNullable<Seed['machines']>[number];
type SeedNetwork = NonNullable<Seed['networks']>[number];

const GIB = 1024 ** 3;
/** Disks are at least as large, so that a root of 20 % of a disk is as large as documents want it. */
const LEAST_DISK = 480 * GIB;

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

function machineOf({ hostname, domain, boot_mac: mac, layout }: ResolvedNode): SeedMachine {
  const interfaces = cardsOf(layout, mac);
  const disks = disksOf(layout);
  const parts = layout?.storage?.disks.flatMap(({ partitions }) => partitions) ?? [];
  return {
    hostname,
    status: 0,
    power_type: 'ipmi',
    ...given({ domain }),
    ...(interfaces.length > 0 ? { interfaces } : given({ mac })),
    ...(disks.length > 0 && { disks }),
    ...(parts.some(({ filesystem }) => filesystem?.mountPoint === '/boot/efi') && { uefi: true }),
  };
}

/** A device that documents name by an address on a bus is an alias: its card has the name that Linux gives. */
function cardsOf(
  layout: MachineLayout | undefined,
  mac: string | undefined,
): Exclude<SeedMachine['interfaces'], undefined> {
  const ports = layout?.ports ?? [];
  const devices = uniqueBy(
    ports.flatMap((port) => port.devices),
    ({ name, address }) => address ?? name,
  );
  const taken = new Set(devices.flatMap(({ name, address }) => (address === undefined ? [name] : [])));
  // It boots from the port whose network is untagged.
  const boot = ports.find(({ networks }) => networks.some(({ vlan }) => vlan === undefined))?.devices[0] ?? devices[0];
  const found = devices.map(({ name, address }) => ({
    name: address === undefined ? name : freeName('eno', taken, 1),
    discovered: null,
    ...given({ bus: address }),
    ...((address ?? name) === (boot?.address ?? boot?.name) && given({ mac })),
  }));
  const kept = (layout?.untouched ?? []).filter(
    (name) => !taken.has(name) && !ports.some((port) => port.name === name),
  );
  return [...found, ...kept.map((name) => ({ name, discovered: null }))];
}

function disksOf(layout: MachineLayout | undefined): NonNullable<SeedMachine['disks']> {
  const { disks = [], groups = [] } = layout?.storage ?? {};
  const taken = new Set(disks.flatMap(({ device }) => (device.address === undefined ? [device.name] : [])));
  // A disk of a group holds all of it, whatever the others hold.
  const held = (group: string | undefined): number =>
    sum(
      groups
        .filter(({ name }) => name === group)
        .flatMap(({ volumes }) => volumes.map(({ size }) => sizeInBytes(size, 0))),
    );
  return disks.map(({ device, group, partitions }) => {
    const needed = held(group) + sum(partitions.map((part) => sizeInBytes(part.size, 0) + held(part.group)));
    return {
      name: device.address === undefined ? device.name : freeName('sd', taken),
      size: Math.max(LEAST_DISK, 2 * Math.ceil(needed / GIB) * GIB),
      ...given({ bus: device.address }),
    };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

function uniqueBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** `eno1`, `eno2`; without a first number `sda`, `sdb`, as far as letters go. */
function freeName(prefix: string, taken: Set<string>, first?: number): string {
  for (let at = 0; ; at++) {
    const suffix = first === undefined && at < 26 ? String.fromCharCode(97 + at) : String(at + (first ?? 0));
    const name = `${prefix}${suffix}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

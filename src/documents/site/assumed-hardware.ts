import { sizeInBytes } from '@sitewright/maas/machine-layout';
import { given } from '../../core/data/given.ts';
import type { ResolvedNode } from './resolve-nodes.ts';

/** `bus`: its address there, as `lshw` writes it, where documents name it so. */
interface AssumedCard {
  readonly name: string;
  readonly bus?: string;
  readonly mac?: string;
}
interface AssumedDisk {
  readonly name: string;
  readonly bus?: string;
  readonly size: number;
}

type Described = Pick<ResolvedNode, 'layout' | 'boot_mac'>;

const GIB = 1024 ** 3;
/** Disks are at least as large, so that a root of 20 % of a disk is as large as documents want it. */
const LEAST_DISK = 480 * GIB;

/** The cards and disks that the documents of a node were written for. */
export const assumedHardware = (
  node: Described,
): { readonly cards: readonly AssumedCard[]; readonly disks: readonly AssumedDisk[] } => ({
  cards: cardsOf(node),
  disks: disksOf(node),
});

/** A device that documents name by an address on a bus is an alias: its card has the name that Linux gives. */
function cardsOf({ layout, boot_mac: mac }: Described): readonly AssumedCard[] {
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
    ...given({ bus: address }),
    ...((address ?? name) === (boot?.address ?? boot?.name) && given({ mac })),
  }));
  const kept = (layout?.untouched ?? []).filter(
    (name) => !taken.has(name) && !ports.some((port) => port.name === name),
  );
  return [...found, ...kept.map((name) => ({ name }))];
}

function disksOf({ layout }: Described): readonly AssumedDisk[] {
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

import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import { Interfaces } from './interfaces.ts';
import { formatAddress } from './ip.ts';
import type { FoundNic, NetworkInterface, Subnet } from './records.ts';
import { hostsOf, networkOf } from './subnet-use.ts';

/** A card without an address is on a fabric of its own: the default one if nothing is there, else a new one. */
function ownVlan(region: Region): number {
  const { id } = region.defaultVlan();
  const isFree = region.interfacesOn((vlan) => vlan === id).next().done;
  return isFree ? id : region.firstVlanOf(region.addFabric().id).id;
}

/** The card with its name and address as found, on the VLAN of the address. */
function find(region: Region, interfaces: Interfaces, found: FoundNic): NetworkInterface {
  const isIt = ({ type, mac }: NetworkInterface): boolean => type === 'physical' && mac === found.mac;
  for (const other of interfaces.all) {
    if (other.type === 'physical' && other.name === found.name && !isIt(other)) interfaces.remove(other.id);
  }
  const known = interfaces.all.find(isIt) ?? interfaces.add({ type: 'physical', name: found.name, mac: found.mac });
  interfaces.edit(known.id, { name: found.name, linkConnected: found.connected });
  const subnet = region.subnet(found.subnet);
  if (subnet && found.address !== null) {
    interfaces.discover(known.id, [{ address: found.address, subnet: subnet.id }]);
    interfaces.setVlan(known.id, subnet.vlan);
  } else if (!found.connected) interfaces.setVlan(known.id, null);
  else if (known.vlan === null) {
    // Stored first, so that the next card finds the fabric taken.
    interfaces.setVlan(known.id, ownVlan(region));
    interfaces.commit();
  }
  return interfaces.get(known.id);
}

/**
 * Resets the interfaces of a machine to the commissioned state: the cards that it finds and nothing else, each with an
 * address that it found, the one that booted with a link.
 */
export function findNetwork(region: Region, machine: Readonly<Machine>, nics: readonly FoundNic[]): void {
  region.editMachine(machine).gatewayLinks = { ipv4: null, ipv6: null };
  const interfaces = new Interfaces(region, machine);
  const macs = new Set(nics.map(({ mac }) => mac));
  for (const nic of interfaces.all.reverse()) {
    if (interfaces.all.includes(nic) && (nic.type !== 'physical' || !macs.has(nic.mac))) interfaces.remove(nic.id);
  }
  const found = nics.map((nic) => find(region, interfaces, nic));
  for (const { id } of interfaces.all) interfaces.clearLinks(id);
  const boot = found.find(({ discovered }) => discovered.length > 0) ?? found[0];
  for (const { id, discovered } of found) {
    for (const { subnet } of discovered) interfaces.link(id, 'auto', subnet);
    if (id === boot?.id && discovered.length === 0) linkBoot(region, interfaces, id);
    else interfaces.ensureLinkUp(id);
  }
  interfaces.commit();
  const row = region.editMachine(machine);
  row.bootInterface = boot?.id ?? null;
  row.foundNics = nics;
}

/** A machine that booted without an address gets one from its VLAN's first subnet, or from whoever gives one there. */
function linkBoot(region: Region, interfaces: Interfaces, id: number): void {
  const { vlan } = interfaces.get(id);
  if (vlan === null) return;
  const [subnet] = region.subnetsOn(vlan);
  interfaces.link(id, subnet ? 'auto' : 'dhcp', subnet?.id ?? null);
}

/** Cards that were added to the region by hand: the first booted from a subnet. */
export function cardsOf(region: Region, machine: Readonly<Machine>, subnet: () => Readonly<Subnet>): FoundNic[] {
  const cards = machine.interfaces.filter(({ type }) => type === 'physical');
  return cards.map(({ name, mac }, i) => {
    const from = i === 0 ? subnet() : null;
    const address = from && leased(region, from);
    return { name, mac, connected: true, address, subnet: address === null ? null : (from?.id ?? null) };
  });
}

/** Where addresses of booting machines begin in a subnet. */
const firstLease = 100n;

/** An address as a booting machine gets it: the first that is free behind the first hundred. */
function leased(region: Region, subnet: Readonly<Subnet>): string | null {
  const { version } = networkOf(subnet);
  const hosts = hostsOf(networkOf(subnet));
  for (let value = hosts.first + firstLease; value <= hosts.last; value++) {
    const address = formatAddress({ version, value });
    if (!region.addressTaken(address)) return address;
  }
  return null;
}

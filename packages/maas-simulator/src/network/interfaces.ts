import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import type { DiscoveredAddress, Link, NetworkInterface } from './records.ts';

/** Fields of an interface that a request gives. */
type NewInterface = Pick<NetworkInterface, 'name' | 'type' | 'mac'> & Partial<NetworkInterface>;

/** An address that MAAS numbers. */
export const numbered = (region: Region): number => region.next('link');

const isOver = ({ type }: NetworkInterface): boolean => type === 'bond' || type === 'bridge';

/**
 * The interfaces of a machine while a request changes them, with MAAS' consequences of each change: links removed with
 * a VLAN, parents that follow their bond, sizes of frames that spread. `commit` stores them.
 */
export class Interfaces {
  readonly #region: Region;
  readonly #machine: Readonly<Machine>;
  readonly #nics: Map<number, NetworkInterface>;
  readonly #vlansLeft = new Set<number>();
  readonly #saving = new Set<number>();

  constructor(region: Region, machine: Readonly<Machine>) {
    this.#region = region;
    this.#machine = machine;
    this.#nics = new Map(machine.interfaces.map((nic) => [nic.id, nic]));
  }

  get all(): NetworkInterface[] {
    return [...this.#nics.values()].sort((a, b) => a.id - b.id);
  }

  get(id: number): NetworkInterface {
    const nic = this.#nics.get(id);
    if (nic === undefined) throw new Error(`no interface ${id} on ${this.#machine.id}`);
    return nic;
  }

  parentsOf(nic: NetworkInterface): NetworkInterface[] {
    return nic.parents.flatMap((id) => this.#nics.get(id) ?? []);
  }

  childrenOf(id: number): NetworkInterface[] {
    return this.all.filter(({ parents }) => parents.includes(id));
  }

  add(given: NewInterface): NetworkInterface {
    const nic: NetworkInterface = {
      vlan: null,
      params: {},
      links: [],
      discovered: [],
      parents: [],
      tags: [],
      enabled: true,
      linkConnected: true,
      ...given,
      id: this.#region.next('interface'),
      mac: given.mac.toLowerCase(),
    };
    this.#nics.set(nic.id, nic);
    this.#mtuChanged(nic.id, undefined);
    this.#saved(nic.id);
    return nic;
  }

  /** Changes fields without consequences. A bond or VLAN is saved with its parents. */
  edit(id: number, change: Partial<Omit<NetworkInterface, 'id' | 'vlan'>>): void {
    const before = this.get(id).params.mtu;
    this.#nics.set(id, { ...this.get(id), ...change });
    this.#mtuChanged(id, before);
    this.#saved(id);
  }

  /** Moves an interface: its links go. A bond takes its parents with it, and a parent stays where its bond is. */
  setVlan(id: number, vlan: number | null): void {
    if (this.get(id).vlan !== vlan) this.#move(id, vlan);
    this.#saved(id);
  }

  #move(id: number, vlan: number | null): void {
    const nic = this.get(id);
    if (nic.vlan !== null) this.#vlansLeft.add(nic.vlan);
    this.#nics.set(id, { ...nic, vlan, links: [] });
  }

  /** MAAS' changes after each save: parents of a bond or bridge have no links, and its VLAN. */
  #saved(id: number): void {
    if (this.#saving.has(id)) return;
    this.#saving.add(id);
    const nic = this.get(id);
    if (isOver(nic)) {
      for (const parent of this.parentsOf(nic)) {
        this.clearLinks(parent.id);
        if (parent.vlan !== nic.vlan) this.#move(parent.id, nic.vlan);
      }
    }
    if (nic.type === 'vlan') this.#nics.set(id, { ...nic, mac: this.parentsOf(nic)[0]?.mac ?? nic.mac });
    for (const child of this.childrenOf(id)) this.#saved(child.id);
    this.#saving.delete(id);
  }

  /** A larger frame than the new one shrinks above; a smaller one grows below. */
  #mtuChanged(id: number, before: unknown): void {
    const { mtu } = this.get(id).params;
    if (typeof mtu !== 'number' || mtu === before) return;
    for (const child of this.childrenOf(id)) {
      if (typeof child.params.mtu === 'number' && child.params.mtu > mtu) this.#setMtu(child, mtu);
    }
    for (const parent of this.parentsOf(this.get(id))) {
      if (typeof parent.params.mtu !== 'number' || parent.params.mtu < mtu) this.#setMtu(parent, mtu);
    }
  }

  #setMtu(nic: NetworkInterface, mtu: number): void {
    this.#nics.set(nic.id, { ...nic, params: { ...nic.params, mtu } });
    this.#mtuChanged(nic.id, nic.params.mtu);
  }

  clearLinks(id: number): void {
    const nic = this.get(id);
    if (nic.links.length > 0) this.#nics.set(id, { ...nic, links: [] });
  }

  /** Adds a link, which ends others that exclude it. An interface on no VLAN gets that of the subnet. */
  link(id: number, mode: Link['mode'], subnet: number | null, address: string | null = null): Link {
    const on = this.#region.subnet(subnet);
    if (this.get(id).vlan === null && on) this.setVlan(id, on.vlan);
    const family = on && familyOf(on.cidr);
    const kept = this.get(id).links.filter((link) => {
      if (link.mode === 'link_up') return false;
      const its = this.#region.subnet(link.subnet);
      return link.mode !== 'dhcp' || (family !== undefined && its !== undefined && familyOf(its.cidr) !== family);
    });
    const link = { id: numbered(this.#region), mode, subnet, address };
    this.#nics.set(id, { ...this.get(id), links: [...kept, link] });
    return link;
  }

  /** Removes a link or a discovered address by its id. The last link that goes is followed by one without address. */
  unlink(id: number, link: number): void {
    const nic = this.get(id);
    const others = <Item extends { readonly id: number }>(items: readonly Item[]): Item[] =>
      items.filter((item) => item.id !== link);
    this.#nics.set(id, { ...nic, links: others(nic.links), discovered: others(nic.discovered) });
    if (nic.enabled) this.ensureLinkUp(id);
  }

  /** An interface on a VLAN is at least up, in the subnet of the address that was found there. */
  ensureLinkUp(id: number): void {
    const { links, vlan, discovered } = this.get(id);
    if (links.length > 0 || vlan === null) return;
    const found = discovered.find(({ subnet }) => this.#region.subnet(subnet)?.vlan === vlan);
    this.link(id, 'link_up', found?.subnet ?? null);
  }

  discover(id: number, addresses: readonly Pick<DiscoveredAddress, 'address' | 'subnet'>[]): void {
    const discovered = addresses.map((found) => ({ id: numbered(this.#region), ...found }));
    this.#nics.set(id, { ...this.get(id), discovered });
  }

  /** Takes an interface off the network: links, discovered addresses and VLAN. */
  disconnect(id: number): void {
    this.#nics.set(id, { ...this.get(id), links: [], discovered: [] });
    this.setVlan(id, null);
  }

  /** Removes an interface, and interfaces made of it alone. */
  remove(id: number): void {
    const nic = this.get(id);
    for (const child of this.childrenOf(id)) {
      if (child.parents.length === 1) this.remove(child.id);
      else this.#nics.set(child.id, { ...child, parents: child.parents.filter((parent) => parent !== id) });
    }
    if (nic.vlan !== null) this.#vlansLeft.add(nic.vlan);
    this.#nics.delete(id);
  }

  commit(): void {
    const { all } = this;
    const ids = new Set(all.flatMap(({ links }) => links.map((link) => link.id)));
    const row = this.#region.editMachine(this.#machine);
    const kept = (link: number | null): number | null => (link !== null && ids.has(link) ? link : null);
    row.gatewayLinks = { ipv4: kept(row.gatewayLinks.ipv4), ipv6: kept(row.gatewayLinks.ipv6) };
    if (row.bootInterface !== null && !this.#nics.has(row.bootInterface)) row.bootInterface = null;
    this.#region.setInterfaces(this.#machine, all);
    for (const vlan of this.#vlansLeft) this.#region.forgetEmptyFabric(vlan);
  }
}

export const familyOf = (cidr: string): 4 | 6 => (cidr.includes(':') ? 6 : 4);

/** Maximum frame size of an interface: its own, or that of its VLAN, and no less than those made of it. */
export function effectiveMtu(region: Region, machine: Readonly<Machine>, nic: NetworkInterface): number {
  const { mtu } = nic.params;
  const own = typeof mtu === 'number' ? mtu : (region.vlan(nic.vlan)?.mtu ?? 1500);
  const children = machine.interfaces.filter(({ parents }) => parents.includes(nic.id));
  return Math.max(own, ...children.map((child) => effectiveMtu(region, machine, child)));
}

export interface Fabric {
  id: number;
  /** Null: `fabric-` and its id. */
  name: string | null;
  classType: string | null;
}

export interface Space {
  id: number;
  /** Null: `space-` and its id. */
  name: string | null;
}

export interface Vlan {
  id: number;
  vid: number;
  fabric: number;
  /** Of the first VLAN of a fabric MAAS shows `untagged` whatever it is. */
  name: string | null;
  mtu: number;
  /** Null: the space that MAAS calls undefined. */
  space: number | null;
}

export interface Subnet {
  id: number;
  name: string;
  vlan: number;
  /** Canonical, without bits of a host. */
  cidr: string;
  gateway: string;
  dnsServers?: readonly string[];
}

export interface StaticRoute {
  id: number;
  source: number;
  destination: number;
  gateway: string;
  metric: number;
}

export interface IpRange {
  id: number;
  type: string;
  start: string;
  end: string;
  subnet: number;
  comment: string;
  owner: string;
}

/** An address that a user keeps from machines. */
export interface ReservedAddress {
  readonly ip: string;
  readonly subnet: number;
  readonly owner: string;
  /** A name in DNS for it, with the number of its record. */
  readonly record?: { readonly id: number; readonly name: string };
  readonly at: number;
}

export interface Link {
  readonly id: number;
  readonly mode: 'auto' | 'dhcp' | 'static' | 'link_up';
  readonly subnet: number | null;
  readonly address: string | null;
}

/** An address that commissioning found on an interface. MAAS numbers it among the links. */
export interface DiscoveredAddress {
  readonly id: number;
  readonly address: string;
  readonly subnet: number;
}

export interface NetworkInterface {
  readonly id: number;
  readonly name: string;
  readonly type: 'physical' | 'bond' | 'bridge' | 'vlan';
  readonly mac: string;
  readonly vlan: number | null;
  /** `mtu` if it has one of its own, and the options of bonds and bridges. */
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly links: readonly Link[];
  readonly discovered: readonly DiscoveredAddress[];
  /** Ids of the interfaces that it is made of. */
  readonly parents: readonly number[];
  readonly tags: readonly string[];
  readonly enabled: boolean;
  readonly linkConnected: boolean;
}

/** A network card as commissioning sees it. */
export interface FoundNic {
  readonly name: string;
  readonly mac: string;
  readonly connected: boolean;
  /** The address that it got, if any, and its subnet. */
  readonly address: string | null;
  readonly subnet: number | null;
}

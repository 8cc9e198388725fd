import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import { viewUser } from '../users.ts';
import { effectiveMtu, familyOf } from './interfaces.ts';
import type { Fabric, IpRange, Link, NetworkInterface, Space, StaticRoute, Subnet, Vlan } from './records.ts';

const base = '/MAAS/api/2.0';

/** The space of VLANs that are in none, for which MAAS shows one. */
export const UNDEFINED_SPACE = 'undefined';

export const fabricName = ({ id, name }: Pick<Fabric, 'id' | 'name'>): string => name ?? `fabric-${id}`;
export const spaceName = ({ id, name }: Pick<Space, 'id' | 'name'>): string => name ?? `space-${id}`;

const spaceOf = (region: Region, { space }: Readonly<Vlan>): string => {
  const found = space === null ? undefined : region.spaces.get(String(space));
  return found ? spaceName(found) : UNDEFINED_SPACE;
};

export const viewVlan = (region: Region, vlan: Readonly<Vlan>): object => ({
  vid: vlan.vid,
  mtu: vlan.mtu,
  dhcp_on: false,
  external_dhcp: null,
  relay_vlan: null,
  name: region.firstVlanOf(vlan.fabric).id === vlan.id ? 'untagged' : vlan.name,
  primary_rack: null,
  secondary_rack: null,
  space: spaceOf(region, vlan),
  fabric_id: vlan.fabric,
  id: vlan.id,
  fabric: fabricName(region.fabrics.get(String(vlan.fabric)) as Fabric),
  resource_uri: `${base}/vlans/${vlan.id}/`,
});

export const viewSubnet = (region: Region, subnet: Readonly<Subnet>): object => {
  const vlan = region.vlan(subnet.vlan) as Readonly<Vlan>;
  return {
    name: subnet.name,
    description: '',
    vlan: viewVlan(region, vlan),
    cidr: subnet.cidr,
    rdns_mode: 2,
    gateway_ip: subnet.gateway || null,
    dns_servers: subnet.dnsServers ?? [],
    allow_dns: true,
    allow_proxy: true,
    active_discovery: false,
    managed: true,
    disabled_boot_architectures: [],
    space: spaceOf(region, vlan),
    id: subnet.id,
    resource_uri: `${base}/subnets/${subnet.id}/`,
  };
};

export const viewFabric = (region: Region, fabric: Readonly<Fabric>): object => ({
  class_type: fabric.classType,
  id: fabric.id,
  name: fabricName(fabric),
  vlans: region.vlansOf(fabric.id).map((vlan) => viewVlan(region, vlan)),
  resource_uri: `${base}/fabrics/${fabric.id}/`,
});

/** A space, or null for subnets in none. */
export function viewSpace(region: Region, space: Readonly<Space> | null): object {
  const vlans = [...region.vlans.values()].filter((vlan) => vlan.space === (space?.id ?? null));
  const ids = new Set(vlans.map(({ id }) => id));
  return {
    description: space
      ? ''
      : 'Backward compatibility object to ensure objects not associated with a space can be found.',
    resource_uri: `${base}/spaces/${space?.id ?? UNDEFINED_SPACE}/`,
    name: space ? spaceName(space) : UNDEFINED_SPACE,
    subnets: [...region.subnets.values()]
      .filter(({ vlan }) => ids.has(vlan))
      .map((subnet) => viewSubnet(region, subnet)),
    id: space?.id ?? -1,
    vlans: vlans.map((vlan) => viewVlan(region, vlan)),
  };
}

export const viewRange = (region: Region, range: Readonly<IpRange>): object => ({
  subnet: viewSubnet(region, region.subnet(range.subnet) as Subnet),
  type: range.type,
  start_ip: range.start,
  end_ip: range.end,
  user: viewUser(range.owner),
  comment: range.comment,
  id: range.id,
  resource_uri: `${base}/ipranges/${range.id}/`,
});

export const viewRoute = (region: Region, route: Readonly<StaticRoute>): object => ({
  source: viewSubnet(region, region.subnet(route.source) as Subnet),
  destination: viewSubnet(region, region.subnet(route.destination) as Subnet),
  gateway_ip: route.gateway,
  metric: route.metric,
  id: route.id,
  resource_uri: `${base}/static-routes/${route.id}/`,
});

/** A link by DHCP shows the last address found on its interface. */
const shown = (nic: NetworkInterface, link: Link): Pick<Link, 'subnet' | 'address'> =>
  (link.mode === 'dhcp' ? nic.discovered.at(-1) : undefined) ?? link;

function viewLink(region: Region, nic: NetworkInterface, link: Link): object {
  const { subnet: id, address } = shown(nic, link);
  const subnet = region.subnet(id);
  return {
    id: link.id,
    mode: link.mode,
    ...(address === null ? {} : { ip_address: address }),
    ...(subnet === undefined ? {} : { subnet: viewSubnet(region, subnet) }),
  };
}

const viewDiscovered = (region: Region, nic: NetworkInterface): object[] | null =>
  nic.discovered.length === 0
    ? null
    : nic.discovered.map(({ subnet, address }) => ({
        subnet: viewSubnet(region, region.subnet(subnet) as Subnet),
        ip_address: address,
      }));

export function viewInterface(region: Region, machine: Readonly<Machine>, nic: NetworkInterface): object {
  const vlan = region.vlan(nic.vlan);
  const named = (test: (other: NetworkInterface) => boolean): string[] =>
    machine.interfaces
      .filter(test)
      .map(({ name }) => name)
      .sort();
  return {
    product: null,
    id: nic.id,
    discovered: viewDiscovered(region, nic),
    effective_mtu: effectiveMtu(region, machine, nic),
    vlan: vlan ? viewVlan(region, vlan) : null,
    params: nic.params,
    firmware_version: null,
    system_id: machine.id,
    name: nic.name,
    link_speed: 0,
    vendor: null,
    type: nic.type,
    sriov_max_vf: 0,
    parents: named(({ id }) => nic.parents.includes(id)),
    links: nic.links.map((link) => viewLink(region, nic, link)),
    enabled: nic.enabled,
    interface_speed: 0,
    link_connected: nic.linkConnected,
    children: named(({ parents }) => parents.includes(nic.id)),
    mac_address: nic.mac,
    tags: nic.tags,
    numa_node: nic.type === 'physical' ? 0 : null,
    resource_uri: `${base}/nodes/${machine.id}/interfaces/${nic.id}/`,
  };
}

const rank = (machine: Readonly<Machine>, nic: NetworkInterface): number => {
  if (nic.type === 'bond' || nic.type === 'bridge') return 1;
  if (nic.type === 'vlan') return 4;
  return nic.id === bootInterfaceOf(machine)?.id ? 2 : 3;
};

export const bootInterfaceOf = (machine: Readonly<Machine>): NetworkInterface | undefined =>
  machine.interfaces.find(({ id }) => id === machine.bootInterface) ??
  machine.interfaces.find(({ type }) => type === 'physical');

/** The gateway of a family: of the link that was chosen, else of the first that MAAS prefers. */
function viewGateway(region: Region, machine: Readonly<Machine>, family: 4 | 6, chosen: number | null): object {
  const links = machine.interfaces.flatMap((nic) =>
    nic.links.flatMap((link) => {
      const subnet = region.subnet(link.subnet);
      const isUsable = subnet !== undefined && subnet.gateway !== '' && familyOf(subnet.gateway) === family;
      return isUsable ? [{ nic, link, gateway: subnet.gateway }] : [];
    }),
  );
  const set = links.find(({ link }) => link.id === chosen);
  if (set) return { gateway_ip: set.gateway, link_id: set.link.id };
  const isSticky = (mode: Link['mode']): number => (mode === 'auto' ? 2 : 1);
  const best = links
    .filter(({ link }) => link.mode !== 'dhcp')
    .sort(
      (a, b) =>
        rank(machine, a.nic) - rank(machine, b.nic) ||
        isSticky(a.link.mode) - isSticky(b.link.mode) ||
        a.nic.id - b.nic.id,
    )[0];
  return { gateway_ip: best?.gateway ?? null, link_id: null };
}

export const viewGateways = (region: Region, machine: Readonly<Machine>): object => ({
  ipv4: viewGateway(region, machine, 4, machine.gatewayLinks.ipv4),
  ipv6: viewGateway(region, machine, 6, machine.gatewayLinks.ipv6),
});

/** Addresses given to the machine, or when there are none those that were found on it. */
export function addressesOf(machine: Readonly<Machine>): string[] {
  const given = machine.interfaces.flatMap(({ links }) => links.flatMap(({ address }) => address ?? []));
  return given.length > 0
    ? given
    : machine.interfaces.flatMap(({ discovered }) => discovered.map(({ address }) => address));
}

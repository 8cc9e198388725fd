import type { Link, Machine, NetworkInterface, Subnet, Vlan } from './records.js';
import type { Region } from './region.js';

const base = '/MAAS/api/2.0';

const fabricName = (id: number): string => `fabric-${id}`;

/** The only space's id is 1; others follow in the order of their names. */
const spaceNames = (region: Region): string[] => [...new Set([...region.vlans.values()].map(({ space }) => space))];

export const viewVlan = (vlan: Readonly<Vlan>): object => ({
  vid: vlan.vid,
  mtu: vlan.mtu,
  dhcp_on: false,
  external_dhcp: null,
  relay_vlan: null,
  name: vlan.name,
  primary_rack: null,
  secondary_rack: null,
  space: vlan.space,
  fabric_id: vlan.fabric,
  id: vlan.id,
  fabric: fabricName(vlan.fabric),
  resource_uri: `${base}/vlans/${vlan.id}/`,
});

const vlanOf = (region: Region, id: number): Readonly<Vlan> => region.vlans.get(String(id)) as Readonly<Vlan>;

export const vlansOfFabric = (region: Region, fabric: number): Readonly<Vlan>[] =>
  [...region.vlans.values()].filter((vlan) => vlan.fabric === fabric);

export const viewSubnet = (region: Region, subnet: Readonly<Subnet>): object => {
  const vlan = vlanOf(region, subnet.vlan);
  return {
    name: subnet.name,
    description: '',
    vlan: viewVlan(vlan),
    cidr: subnet.cidr,
    rdns_mode: 2,
    gateway_ip: subnet.gateway || null,
    dns_servers: subnet.dnsServers ?? [],
    allow_dns: true,
    allow_proxy: true,
    active_discovery: false,
    managed: true,
    disabled_boot_architectures: [],
    space: vlan.space,
    id: subnet.id,
    resource_uri: `${base}/subnets/${subnet.id}/`,
  };
};

export const viewFabrics = (region: Region): object[] =>
  [...new Set([...region.vlans.values()].map(({ fabric }) => fabric))].map((id) => ({
    class_type: null,
    id,
    name: fabricName(id),
    vlans: vlansOfFabric(region, id).map(viewVlan),
    resource_uri: `${base}/fabrics/${id}/`,
  }));

export const viewSpaces = (region: Region): object[] =>
  spaceNames(region).map((name, index) => ({
    description: '',
    resource_uri: `${base}/spaces/${index + 1}/`,
    name,
    subnets: [...region.subnets.values()]
      .filter(({ vlan }) => vlanOf(region, vlan).space === name)
      .map((subnet) => viewSubnet(region, subnet)),
    id: index + 1,
    vlans: [...region.vlans.values()].filter(({ space }) => space === name).map(viewVlan),
  }));

function viewLink(region: Region, link: Link): object {
  const subnet = link.subnet === null ? undefined : region.subnets.get(String(link.subnet));
  return {
    id: link.id,
    mode: link.mode,
    ...(link.address === null ? {} : { ip_address: link.address }),
    ...(subnet === undefined ? {} : { subnet: viewSubnet(region, subnet) }),
  };
}

export function viewInterface(region: Region, machine: Readonly<Machine>, nic: NetworkInterface): object {
  return {
    product: null,
    id: nic.id,
    discovered: null,
    effective_mtu: nic.mtu ?? (nic.vlan === null ? 1500 : vlanOf(region, nic.vlan).mtu),
    vlan: nic.vlan === null ? null : viewVlan(vlanOf(region, nic.vlan)),
    params: nic.params,
    firmware_version: null,
    system_id: machine.id,
    name: nic.name,
    link_speed: 0,
    vendor: null,
    type: nic.type,
    sriov_max_vf: 0,
    parents: nic.parents,
    links: nic.links.map((link) => viewLink(region, link)),
    enabled: true,
    interface_speed: 0,
    link_connected: true,
    children: machine.interfaces.filter((other) => other.parents.includes(nic.name)).map((other) => other.name),
    mac_address: nic.mac,
    tags: nic.tags,
    numa_node: 0,
    resource_uri: `${base}/nodes/${machine.id}/interfaces/${nic.id}/`,
  };
}

import type { Link, Machine, NetworkInterface, Subnet } from './records.js';
import type { Region } from './region.js';

const base = '/MAAS/api/2.0';

/** The only VLAN and fabric of the region; every subnet is on it. */
export const theVlan = {
  vid: 0,
  mtu: 1500,
  dhcp_on: false,
  external_dhcp: null,
  relay_vlan: null,
  name: 'untagged',
  primary_rack: null,
  secondary_rack: null,
  space: 'space-1',
  fabric_id: 0,
  id: 5001,
  fabric: 'fabric-0',
  resource_uri: `${base}/vlans/5001/`,
} as const;

export const viewSubnet = (subnet: Readonly<Subnet>): object => ({
  name: subnet.name,
  description: '',
  vlan: theVlan,
  cidr: subnet.cidr,
  rdns_mode: 2,
  gateway_ip: subnet.gateway,
  dns_servers: [],
  allow_dns: true,
  allow_proxy: true,
  active_discovery: false,
  managed: true,
  disabled_boot_architectures: [],
  space: 'space-1',
  id: subnet.id,
  resource_uri: `${base}/subnets/${subnet.id}/`,
});

export const viewFabric = (): object => ({
  class_type: null,
  id: 0,
  name: 'fabric-0',
  vlans: [theVlan],
  resource_uri: `${base}/fabrics/0/`,
});

export const viewSpace = (region: Region): object => ({
  description: '',
  resource_uri: `${base}/spaces/1/`,
  name: 'space-1',
  subnets: [...region.subnets.values()].map(viewSubnet),
  id: 1,
  vlans: [theVlan],
});

function viewLink(region: Region, link: Link): object {
  const subnet = link.subnet === null ? undefined : region.subnets.get(String(link.subnet));
  return {
    id: link.id,
    mode: link.mode,
    ...(link.address === null ? {} : { ip_address: link.address }),
    ...(subnet === undefined ? {} : { subnet: viewSubnet(subnet) }),
  };
}

export function viewInterface(region: Region, machine: Readonly<Machine>, nic: NetworkInterface): object {
  return {
    product: null,
    id: nic.id,
    discovered: null,
    effective_mtu: 1500,
    vlan: nic.vlan === null ? null : theVlan,
    params: {},
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

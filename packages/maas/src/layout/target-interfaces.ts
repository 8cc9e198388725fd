import type { Interface, Subnet, Vlan } from './hardware.ts';
import { isSameNetwork } from './ip-address.ts';
import type { DeviceReference, NetworkAttachment, PortLayout } from './machine-layout.ts';

/** The networks that MAAS has. */
export interface MaasNetworks {
  readonly subnets: readonly Subnet[];
  readonly vlans: readonly Vlan[];
}

export interface TargetLink {
  /** `link_up`: without an address. */
  readonly mode: 'dhcp' | 'static' | 'link_up';
  readonly subnet: Subnet | undefined;
  readonly address?: string;
  /** Its gateway is to be the machine's default gateway. */
  readonly isGateway: boolean;
}

/** An interface as it is to be. */
export interface TargetInterface {
  readonly name: string;
  readonly type: 'physical' | 'bond' | 'vlan';
  readonly parents: readonly string[];
  readonly params: Readonly<Record<string, string | number>>;
  /** Absent for a port without networks: it stays where it is. */
  readonly vlan: number | undefined;
  readonly mtu: number | undefined;
  /** Absent for one that only carries others. */
  readonly link: TargetLink | undefined;
}

/** Linux takes no longer name; MAAS names a VLAN interface `PARENT.TAG`. */
const LONGEST_NAME = 15;

/**
 * The interfaces that the ports describe, with the ids of MAAS' networks.
 * @param nameOf the name in MAAS of a device; reports a device that the machine lacks
 * @param report problems: networks that MAAS does not have, or has otherwise; names that cannot be
 */
export function targetInterfaces(
  ports: readonly PortLayout[],
  networks: MaasNetworks,
  physical: readonly Interface[],
  nameOf: (device: DeviceReference, of: string) => string | undefined,
  report: (problem: string) => void,
): readonly TargetInterface[] {
  const bases: TargetInterface[] = [];
  const tagged: TargetInterface[] = [];
  const users = new Map<string, string>();
  for (const port of ports) {
    const devices = port.devices.flatMap((device) => nameOf(device, port.name) ?? []);
    for (const device of devices) {
      const other = users.get(device);
      if (other !== undefined) report(`${port.name}: its device ${device} belongs to ${other}, too`);
      users.set(device, port.name);
    }
    const name = port.bond ? port.name : (devices[0] ?? port.name);
    const found = placeNetworks(port, networks, report);
    const native = found.find(({ attachment }) => attachment.vlan === undefined);
    const fabric = found[0]?.vlan.fabric;
    const untagged = native?.vlan ?? networks.vlans.find((vlan) => vlan.fabric === fabric && vlan.vid === 0);
    if (fabric !== undefined && !untagged)
      report(`MAAS has no untagged VLAN in ${fabric}, which ${port.name} needs below its VLANs: add it there`);
    bases.push({
      name,
      type: port.bond ? 'bond' : 'physical',
      parents: port.bond ? devices : [],
      params: { ...port.bond },
      vlan: untagged?.id,
      mtu: port.mtu,
      link: native && linkOf(native.attachment, native.subnet),
    });
    for (const { attachment, vlan, subnet } of found) {
      if (attachment.vlan === undefined) continue;
      tagged.push({
        name: `${name}.${vlan.vid}`,
        type: 'vlan',
        parents: [name],
        params: {},
        vlan: vlan.id,
        mtu: attachment.mtu,
        link: linkOf(attachment, subnet),
      });
    }
  }
  const target = [
    ...bases.filter(({ type }) => type === 'physical'),
    ...bases.filter(({ type }) => type === 'bond'),
    ...tagged,
  ];
  for (const { name, type } of target) {
    if (type === 'physical') continue;
    if (physical.some((nic) => nic.name === name))
      report(`the ${type} ${name} would have the name of a device of the machine: name it otherwise`);
    if (name.length > LONGEST_NAME)
      report(`the name ${name} has ${name.length} characters, and an interface has at most ${LONGEST_NAME}`);
  }
  return target;
}

interface Placed {
  readonly attachment: NetworkAttachment;
  readonly subnet: Subnet | undefined;
  readonly vlan: Vlan;
}

/** Finds the networks of a port in MAAS: by their subnets, and those without by their tags in the same fabric. */
function placeNetworks(port: PortLayout, networks: MaasNetworks, report: (problem: string) => void): Placed[] {
  const subnetOf = ({ cidr }: NetworkAttachment) =>
    networks.subnets.find((subnet) => cidr !== undefined && isSameNetwork(subnet.cidr, cidr));
  const fabric = port.networks.map(subnetOf).find((subnet) => subnet !== undefined)?.fabric;
  return port.networks.flatMap((attachment): Placed[] => {
    const { network, cidr, vlan: tag } = attachment;
    if (cidr === undefined) {
      const vlan = networks.vlans.find((each) => each.fabric === fabric && each.vid === (tag ?? 0));
      if (vlan) return [{ attachment, subnet: undefined, vlan }];
      if (fabric !== undefined)
        report(`MAAS has no VLAN ${tag ?? 0} in ${fabric}, which network ${network} needs: add it there`);
      return [];
    }
    const subnet = subnetOf(attachment);
    if (!subnet) {
      report(`MAAS has no subnet ${cidr} (network ${network}): add it there, or correct the Network document`);
      return [];
    }
    if (tag !== undefined && subnet.vid !== tag) {
      report(`MAAS has ${cidr} (network ${network}) on VLAN ${subnet.vid}, not on ${tag}: correct one of them`);
      return [];
    }
    if (subnet.fabric !== fabric) {
      report(`MAAS has ${cidr} (network ${network}) in ${subnet.fabric}, other networks of ${port.name} in ${fabric}`);
      return [];
    }
    return [{ attachment, subnet, vlan: { id: subnet.vlanId, vid: subnet.vid, fabric: subnet.fabric } }];
  });
}

function linkOf({ address, isPrimary }: NetworkAttachment, subnet: Subnet | undefined): TargetLink {
  const isGateway = isPrimary === true && (subnet?.gateway ?? '') !== '';
  if (address === undefined) return { mode: 'link_up', subnet, isGateway: false };
  if (address === 'dhcp') return { mode: 'dhcp', subnet, isGateway };
  return { mode: 'static', subnet, address, isGateway };
}

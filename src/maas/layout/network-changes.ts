import type { DeviceReference, NetworkAttachment, PortLayout } from '../../core/machine-layout.js';
import type { Hardware, Interface, InterfaceLink, LayoutChange, Subnet, Vlan } from './hardware.js';

/** The networks that MAAS has. */
export interface MaasNetworks {
  readonly subnets: readonly Subnet[];
  readonly vlans: readonly Vlan[];
}

interface TargetLink {
  readonly mode: 'dhcp' | 'static';
  readonly subnet: number | undefined;
  readonly address?: string;
  /** Its gateway is to be the machine's default gateway. */
  readonly isGateway: boolean;
}

/** An interface as it is to be. */
interface TargetInterface {
  readonly name: string;
  readonly type: 'physical' | 'bond' | 'vlan';
  readonly parents: readonly string[];
  readonly params: Readonly<Record<string, string | number>>;
  readonly vlan: number | undefined;
  readonly mtu: number | undefined;
  readonly link: TargetLink | undefined;
}

/**
 * The interfaces that the ports describe, with the ids of MAAS' networks.
 * @param nameOf the name in MAAS of a device; reports a device that the machine lacks
 * @param report problems: networks that MAAS does not have, or has otherwise
 */
export function targetInterfaces(
  ports: readonly PortLayout[],
  networks: MaasNetworks,
  nameOf: (device: DeviceReference, of: string) => string | undefined,
  report: (problem: string) => void,
): readonly TargetInterface[] {
  const bases: TargetInterface[] = [];
  const tagged: TargetInterface[] = [];
  for (const port of ports) {
    const parents = port.devices.flatMap((device) => nameOf(device, port.name) ?? []);
    const name = port.bond ? port.name : (parents[0] ?? port.name);
    const found = placeNetworks(port, networks, report);
    const native = found.find(({ attachment }) => attachment.vlan === undefined);
    const fabric = found[0]?.vlan.fabric;
    const untagged = native?.vlan ?? networks.vlans.find((vlan) => vlan.fabric === fabric && vlan.vid === 0);
    bases.push({
      name,
      type: port.bond ? 'bond' : 'physical',
      parents: port.bond ? parents : [],
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
  return [
    ...bases.filter(({ type }) => type === 'physical'),
    ...bases.filter(({ type }) => type === 'bond'),
    ...tagged,
  ];
}

interface Placed {
  readonly attachment: NetworkAttachment;
  readonly subnet: Subnet | undefined;
  readonly vlan: Vlan;
}

/** Finds the networks of a port in MAAS: by their subnets, and those without by their tags in the same fabric. */
function placeNetworks(port: PortLayout, networks: MaasNetworks, report: (problem: string) => void): Placed[] {
  const subnetOf = ({ cidr }: NetworkAttachment) => networks.subnets.find((subnet) => subnet.cidr === cidr);
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

function linkOf({ address, isPrimary }: NetworkAttachment, subnet: Subnet | undefined): TargetLink | undefined {
  if (address === undefined) return undefined;
  const isGateway = isPrimary === true && (subnet?.gateway ?? '') !== '';
  if (address === 'dhcp') return { mode: 'dhcp', subnet: subnet?.id, isGateway };
  return { mode: 'static', subnet: subnet?.id, address, isGateway };
}

/** The next call towards the target, from one reading; `undefined` when nothing is left to do. */
export function nextNetworkChange(
  { interfaces, gatewayLinks }: Hardware,
  target: readonly TargetInterface[],
): LayoutChange | undefined {
  return (
    removal(interfaces, target) ??
    first(interfaces, (nic) => unlinking(nic, target.find(({ name }) => name === nic.name)?.link)) ??
    first(target, (wanted) => creation(interfaces, wanted) ?? adjustment(interfaces, wanted)) ??
    first(target, (wanted) => gatewayChange(interfaces, gatewayLinks, wanted))
  );
}

const first = <Item>(items: readonly Item[], change: (item: Item) => LayoutChange | undefined) => {
  for (const item of items) {
    const found = change(item);
    if (found) return found;
  }
  return undefined;
};

const pathOf = ({ id }: Interface): string => `interfaces/${id}/`;

/** An interface that is not wanted, or not like this; one upon it goes first. */
function removal(interfaces: readonly Interface[], target: readonly TargetInterface[]): LayoutChange | undefined {
  let doomed = interfaces.find((nic) => nic.type !== 'physical' && !target.some((wanted) => isLike(nic, wanted)));
  if (!doomed) return undefined;
  for (let upon = doomed as Interface | undefined; upon; ) {
    doomed = upon;
    const { name } = upon;
    upon = interfaces.find(({ parents }) => parents.includes(name));
  }
  return { method: 'delete', path: pathOf(doomed), text: `remove ${doomed.type} ${doomed.name}` };
}

const isLike = (nic: Interface, wanted: TargetInterface): boolean =>
  nic.name === wanted.name &&
  nic.type === wanted.type &&
  nic.parents.length === wanted.parents.length &&
  wanted.parents.every((parent) => nic.parents.includes(parent)) &&
  (wanted.type !== 'vlan' || nic.vlanId === wanted.vlan) &&
  Object.entries(wanted.params).every(([key, value]) => String(nic.params[key]) === String(value));

/** MAAS links an interface again at each request, so that the same link may be there twice. */
function unlinking(nic: Interface, wanted: TargetLink | undefined): LayoutChange | undefined {
  const kept = wanted && nic.links.find((link) => isLink(link, wanted));
  // Up without an address: MAAS adds this itself, and removes it.
  const extra = nic.links.find((link) => link !== kept && (link.mode !== 'link_up' || link.subnetId !== undefined));
  if (!extra) return undefined;
  const what = extra.ipAddress || extra.mode;
  return {
    method: 'post',
    path: pathOf(nic),
    op: 'unlink_subnet',
    form: { id: extra.id },
    text: `unlink ${what} from ${nic.name}`,
  };
}

const isLink = (link: InterfaceLink, wanted: TargetLink): boolean =>
  link.mode === wanted.mode &&
  link.subnetId === wanted.subnet &&
  (wanted.address === undefined || link.ipAddress === wanted.address);

function creation(interfaces: readonly Interface[], wanted: TargetInterface): LayoutChange | undefined {
  if (wanted.type === 'physical' || interfaces.some(({ name }) => name === wanted.name)) return undefined;
  const parents = interfaces.filter(({ name }) => wanted.parents.includes(name)).map(({ id }) => String(id));
  const { vlan, mtu, name } = wanted;
  return wanted.type === 'bond'
    ? {
        method: 'post',
        path: 'interfaces/',
        op: 'create_bond',
        form: { name, parents, ...wanted.params, vlan, mtu },
        text: `create bond ${name}`,
      }
    : {
        method: 'post',
        path: 'interfaces/',
        op: 'create_vlan',
        form: { parent: parents[0], vlan, mtu },
        text: `create VLAN ${name}`,
      };
}

function adjustment(interfaces: readonly Interface[], wanted: TargetInterface): LayoutChange | undefined {
  const nic = interfaces.find(({ name }) => name === wanted.name);
  if (!nic) return undefined;
  const { vlan, mtu, link } = wanted;
  if (vlan !== undefined && nic.vlanId !== vlan)
    return { method: 'put', path: pathOf(nic), form: { vlan }, text: `put ${nic.name} on VLAN ${vlan}` };
  if (mtu !== undefined && nic.mtu !== mtu)
    return { method: 'put', path: pathOf(nic), form: { mtu }, text: `set the MTU of ${nic.name} to ${mtu}` };
  if (!link || nic.links.some((each) => isLink(each, link))) return undefined;
  return {
    method: 'post',
    path: pathOf(nic),
    op: 'link_subnet',
    form: { mode: link.mode.toUpperCase(), subnet: link.subnet, ip_address: link.address },
    text: `link ${nic.name} (${link.address ?? link.mode})`,
  };
}

function gatewayChange(
  interfaces: readonly Interface[],
  gateways: readonly number[],
  { name, link }: TargetInterface,
): LayoutChange | undefined {
  const nic = interfaces.find((each) => each.name === name);
  const made = link?.isGateway ? nic?.links.find((each) => isLink(each, link)) : undefined;
  if (!nic || !made || gateways.includes(made.id)) return undefined;
  return {
    method: 'post',
    path: pathOf(nic),
    op: 'set_default_gateway',
    form: { link_id: made.id },
    text: `make ${name} the default gateway`,
  };
}

import { json, missing, refuse, serverError } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { FormErrors, NO_SUCH_CHOICE, REQUIRED, refuseField } from '../form-errors.ts';
import { addressField } from '../form-fields.ts';
import type { Region } from '../region.ts';
import { findSubnet } from './find.ts';
import { familyOf, Interfaces } from './interfaces.ts';
import { type IpAddress, isIn, parseAddress, parseNetwork } from './ip.ts';
import { interfaceFor } from './machine-of.ts';
import type { DiscoveredAddress, IpRange, Link, NetworkInterface, Subnet } from './records.ts';
import { claimAddress } from './subnet-use.ts';
import { viewInterface } from './view.ts';

const modes = ['auto', 'dhcp', 'static', 'link_up'] as const;

/** As MAAS names a subnet in its messages. */
const nameOf = (region: Region, subnet: Readonly<Subnet>): string =>
  `${subnet.name}:${subnet.cidr}(vid=${region.vlan(subnet.vlan)?.vid})`;

interface LinkCall {
  readonly call: Call;
  readonly nic: NetworkInterface;
  readonly errors: FormErrors;
  readonly isForced: boolean;
}

function modeField({ call: { form }, errors }: LinkCall): Link['mode'] | null {
  const mode = form.text('mode')?.toLowerCase() ?? null;
  if (mode === null) errors.add('mode', REQUIRED);
  else if ((modes as readonly string[]).includes(mode)) return mode as Link['mode'];
  else {
    const known = modes.map((each) => `'${each}'`).join(', ');
    errors.add('mode', `'${mode}' is not a valid mode.  It should be one of: ${known}.`);
  }
  return null;
}

/** A subnet of the interface's VLAN; of any when it is on none, or by force. */
function subnetField({ call: { form, region }, nic, errors, isForced }: LinkCall): Readonly<Subnet> | null {
  const text = form.text('subnet');
  if (text === null) return null;
  const subnet = findSubnet(region, text);
  const isOffered = subnet && (isForced || nic.vlan === null || subnet.vlan === nic.vlan);
  if (isOffered) return subnet;
  errors.add('subnet', /^(?:id:)?\d+$/.test(text) ? `None found with id=${text}.` : NO_SUCH_CHOICE);
  return null;
}

const dynamicRange = (region: Region, subnet: Readonly<Subnet>, address: IpAddress): Readonly<IpRange> | undefined =>
  [...region.ranges.values()].find((range) => {
    const [start, end] = [parseAddress(range.start), parseAddress(range.end)];
    const isHere = range.subnet === subnet.id && range.type === 'dynamic' && start && end;
    return isHere && start.value <= address.value && address.value <= end.value;
  });

function checkStatic({ call: { region }, errors }: LinkCall, subnet: Readonly<Subnet>, text: string): void {
  const [address, network] = [parseAddress(text), parseNetwork(subnet.cidr)];
  if (!address || !network) return;
  if (!isIn(network, address)) {
    errors.add('ip_address', `IP address is not in the given subnet '${nameOf(region, subnet)}'.`);
  }
  const range = dynamicRange(region, subnet, address);
  if (range) errors.add('ip_address', `IP address is inside a dynamic range ${range.start} to ${range.end}.`);
}

function checkDhcp({ call: { region }, nic, errors }: LinkCall): void {
  const there = nic.links.filter(({ mode }) => mode === 'dhcp');
  if (there.length > 1) refuse(serverError('get() returned more than one StaticIPAddress'));
  const [first] = there;
  if (!first) return;
  const subnet = region.subnet(first.subnet);
  errors.add('mode', `Interface is already set to DHCP${subnet ? ` from '${nameOf(region, subnet)}'` : ''}.`);
}

function checkLinkUp({ nic, errors, isForced }: LinkCall): void {
  const isLinked = nic.links.some(({ mode, address }) => mode !== 'link_up' && (mode !== 'static' || address !== null));
  if (isForced || !(isLinked || nic.discovered.length > 0)) return;
  errors.add(
    'mode',
    'Cannot configure interface to link up (with no IP address) while other links are already configured. ' +
      'Specify force=True to override this behavior and delete all links.',
  );
}

function checkGateway({ call, errors }: LinkCall, mode: Link['mode'], subnet: Readonly<Subnet> | null): boolean {
  if (!call.form.flag('default_gateway')) return false;
  if (mode !== 'auto' && mode !== 'static') errors.add('default_gateway', `Cannot use in mode '${mode}'.`);
  else if (!subnet) errors.add('default_gateway', 'Subnet is required when default_gateway is True.');
  else if (subnet.gateway === '') {
    const name = nameOf(call.region, subnet);
    const text = `Cannot set as default gateway because subnet ${name} doesn't provide a gateway IP address.`;
    errors.add('default_gateway', text);
  }
  return true;
}

export const linkSubnet: Handler = (call) => {
  const { machine, nic } = interfaceFor(call, 'link subnet');
  const { form, region } = call;
  const errors = new FormErrors();
  const given: LinkCall = { call, nic, errors, isForced: form.flag('force') };
  const subnet = subnetField(given);
  const wanted = addressField(form, errors, 'ip_address');
  const mode = modeField(given);
  for (const bond of machine.interfaces.filter(({ type, parents }) => type === 'bond' && parents.includes(nic.id))) {
    errors.add('bond', `Cannot link interface(${nic.name}) when interface is in a bond(${bond.name}).`);
  }
  if ((mode === 'auto' || mode === 'static') && !subnet) errors.add('subnet', REQUIRED);
  if (mode === 'static' && subnet && wanted !== null) checkStatic(given, subnet, wanted);
  if (mode === 'dhcp') checkDhcp(given);
  if (mode === 'link_up') checkLinkUp(given);
  const isGateway = mode !== null && checkGateway(given, mode, subnet);
  errors.refuse();
  if (mode === null) return refuse(serverError('no mode'));

  const interfaces = new Interfaces(region, machine);
  if (mode === 'link_up' || given.isForced) interfaces.clearLinks(nic.id);
  if (given.isForced && subnet) interfaces.setVlan(nic.id, subnet.vlan);
  let address: string | null = null;
  if (mode === 'static' && subnet) {
    if (wanted !== null && region.addressTaken(wanted)) refuse(missing('IP address is already in use.'));
    address = wanted ?? claimAddress(region, subnet);
  }
  const link = interfaces.link(nic.id, mode, subnet?.id ?? null, address);
  interfaces.commit();
  if (isGateway && subnet) setGateways(call, machine.id, [{ id: link.id, subnet }]);
  return json(viewInterface(region, machine, interfaces.get(nic.id)));
};

function setGateways(call: Call, id: string, links: readonly { id: number; subnet: Readonly<Subnet> }[]): void {
  const row = call.region.machines.edit(id);
  for (const link of links) {
    const family = familyOf(link.subnet.cidr) === 6 ? 'ipv6' : 'ipv4';
    row.gatewayLinks = { ...row.gatewayLinks, [family]: link.id };
  }
}

const notAmong = (field: string, given: string, ids: readonly number[]): string =>
  `'${given}' is not a valid ${field}.  It should be one of: ${ids.map((id) => `'${id}'`).join(', ')}.`;

export const unlinkSubnet: Handler = (call) => {
  const { machine, nic } = interfaceFor(call, 'unlink subnet');
  const id = call.form.text('id') ?? refuseField('id', REQUIRED);
  const all: readonly Pick<Link | DiscoveredAddress, 'id'>[] = [...nic.links, ...nic.discovered];
  const ids = all.map((link) => link.id).sort((a, b) => a - b);
  if (!ids.map(String).includes(id)) refuseField('id', notAmong('id', id, ids));
  const interfaces = new Interfaces(call.region, machine);
  interfaces.unlink(nic.id, Number(id));
  interfaces.commit();
  return json(viewInterface(call.region, machine, interfaces.get(nic.id)));
};

export const disconnect: Handler = (call) => {
  const { machine, nic } = interfaceFor(call, 'disconnect');
  if (nic.type === 'vlan') refuseField('vlan', 'VLAN interface requires connection to a VLAN.');
  const interfaces = new Interfaces(call.region, machine);
  interfaces.disconnect(nic.id);
  interfaces.commit();
  return json(viewInterface(call.region, machine, interfaces.get(nic.id)));
};

/** The links of an interface that lead to a gateway; of these the first of each family, or the one that is named. */
export const setDefaultGateway: Handler = (call) => {
  const { machine, nic } = interfaceFor(call, 'set default gateway');
  const { region } = call;
  const usable = nic.links.flatMap(({ id, subnet: on }) => {
    const subnet = region.subnet(on);
    return subnet && subnet.gateway !== '' ? [{ id, subnet }] : [];
  });
  const errors = new FormErrors();
  const wanted = call.form.text('link_id');
  const chosen = usable.filter(({ id }) => String(id) === wanted);
  const ids = usable.map(({ id }) => id);
  if (wanted !== null && chosen.length === 0) errors.add('link_id', notAmong('link_id', wanted, ids));
  if (usable.length === 0) errors.add('__all__', 'This interface has no usable gateways.');
  const families = ([4, 6] as const).filter(
    (family) =>
      new Set(usable.map(({ subnet }) => subnet.gateway).filter((gateway) => familyOf(gateway) === family)).size > 1,
  );
  if (usable.length > 0 && chosen.length === 0 && families.length > 0) {
    const names = families.map((family) => `IPv${family}`).join(' and ');
    const many = families.length > 1 ? 's' : '';
    errors.add('link_id', `This field is required; Interface has more than one usable ${names} gateway${many}.`);
  }
  errors.refuse();
  const first = ([4, 6] as const).flatMap(
    (family) => usable.find(({ subnet }) => familyOf(subnet.cidr) === family) ?? [],
  );
  setGateways(call, machine.id, wanted === null ? first : chosen);
  return json(viewInterface(region, machine, nic));
};

import { deleted, json, notFound, refuse } from '../answer.ts';
import { type Call, type Handler, requireRight } from '../call.ts';
import { FormErrors, NO_SUCH_CHOICE, REQUIRED, refuseField } from '../form-errors.ts';
import { addressField, integerField } from '../form-fields.ts';
import type { Region } from '../region.ts';
import { versionTraits } from '../versions.ts';
import { findSubnet } from './find.ts';
import { formatNetwork, type IpNetwork, isIn, parseAddress, parseNetwork } from './ip.ts';
import type { Subnet, Vlan } from './records.ts';
import { fabricName, viewSubnet } from './view.ts';

export const listSubnets: Handler = ({ region }) =>
  json([...region.subnets.values()].map((subnet) => viewSubnet(region, subnet)));

const subnetOf = ({ region, parts }: Call): Readonly<Subnet> =>
  findSubnet(region, parts[0] ?? '') ?? refuse(notFound('Subnet'));

export const readSubnet: Handler = (call) => json(viewSubnet(call.region, subnetOf(call)));

function cidrField({ form, region }: Call, errors: FormErrors, self: Readonly<Subnet> | null): IpNetwork | null {
  const text = form.text('cidr')?.trim() ?? null;
  if (text === null) {
    if (self === null || form.has('cidr')) errors.add('cidr', REQUIRED);
    return null;
  }
  const network = parseNetwork(text);
  if (network?.prefix === 0) errors.add('cidr', 'Prefix length must be greater than 0.');
  else if (network === null) errors.add('cidr', 'Required format: <network>/<prefixlen>.');
  else {
    const others = [...region.subnets.values()].filter(({ id }) => id !== self?.id);
    const isTaken = others.some(({ cidr }) => cidr === formatNetwork(network));
    if (isTaken) errors.add('cidr', 'Subnet with this Cidr already exists.');
    const overlaps = others.some(({ cidr }) => areOverlapping(network, parseNetwork(cidr)));
    if (overlaps && versionTraits(region.version).refusesOverlaps)
      errors.add('__all__', `Subnet ${formatNetwork(network)} would overlap with existing subnets.`);
    else if (!isTaken) return network;
  }
  return null;
}

const areOverlapping = (one: IpNetwork, other: IpNetwork | null): boolean =>
  one.version === other?.version && one.first <= other.last && other.first <= one.last;

/** In the network, or for IPv6 of the link. */
function checkGateway(errors: FormErrors, network: IpNetwork | null, gateway: string): void {
  const address = parseAddress(gateway);
  if (!network || !address || isIn(network, address)) return;
  const ofTheLink = parseNetwork('fe80::/10');
  if (network.version === 6 && ofTheLink && isIn(ofTheLink, address)) return;
  errors.add('gateway_ip', 'Gateway IP must be within CIDR range.');
}

function dnsField({ form }: Call, errors: FormErrors): readonly string[] | null {
  if (!form.has('dns_servers')) return null;
  const servers = form.all('dns_servers').flatMap((text) => text.split(/[\s,]+/).filter((one) => one !== ''));
  const odd = servers.find((server) => parseAddress(server) === null);
  if (odd === undefined) return servers;
  errors.add('__all__', `Invalid IP address: ${odd}; provide a list of space-separated IP addresses`);
  return null;
}

function vlanById({ form, region }: Call, errors: FormErrors): Readonly<Vlan> | null {
  const text = form.text('vlan');
  if (text === null) return null;
  const vlan = region.vlans.get(text) ?? null;
  if (!vlan) errors.add('vlan', NO_SUCH_CHOICE);
  return vlan;
}

/** A new subnet names its VLAN by id, or by fabric and tag; else it is on the default one. */
function vlanOfNew(call: Call, errors: FormErrors): Readonly<Vlan> | null {
  const { form, region } = call;
  const vlan = vlanById(call, errors);
  const vid = integerField(form, errors, 'vid', { min: 0, max: 4094 });
  const wanted = form.text('fabric');
  const fabric = wanted === null ? undefined : region.fabrics.get(wanted);
  if (wanted !== null && !fabric) errors.add('fabric', NO_SUCH_CHOICE);
  if (errors.has('vlan', 'vid', 'fabric')) return null;
  if (vlan) {
    if (fabric && vlan.fabric !== fabric.id)
      errors.add('vlan', `VLAN ${vlan.name} is not in fabric ${fabricName(fabric)}.`);
    return vlan;
  }
  const id = fabric?.id ?? region.defaultVlan().fabric;
  if (!vid) return region.firstVlanOf(id);
  const tagged = region.vlansOf(id).find((one) => one.vid === vid) ?? null;
  const where = fabric ? `fabric name=${fabricName(fabric)}` : 'default fabric';
  if (!tagged) errors.add('vid', `No VLAN with vid ${vid} in ${where}.`);
  return tagged;
}

function gatewayField({ form }: Call, errors: FormErrors): string | null {
  if (!form.has('gateway_ip')) return null;
  return form.text('gateway_ip') === null ? '' : addressField(form, errors, 'gateway_ip');
}

export const createSubnet: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { form, region } = call;
  const errors = new FormErrors();
  const network = cidrField(call, errors, null);
  const gateway = gatewayField(call, errors) ?? '';
  const dnsServers = dnsField(call, errors) ?? [];
  const vlan = vlanOfNew(call, errors);
  if (form.has('space')) {
    errors.add('space', 'Spaces may no longer be set on subnets. Set the space on the underlying VLAN.');
  }
  checkGateway(errors, network, gateway);
  errors.refuse();
  const name = form.text('name')?.trim() || (form.text('cidr') ?? '');
  const made = addSubnet(region, {
    name,
    vlan: vlan?.id ?? 0,
    cidr: network ? formatNetwork(network) : '',
    gateway,
    dnsServers,
  });
  // The answer to a new one has an empty gateway; the next read has none.
  return json({ ...viewSubnet(region, made), gateway_ip: gateway });
};

export function addSubnet(region: Region, fields: Omit<Subnet, 'id'>): Readonly<Subnet> {
  const id = region.next('subnet');
  return region.subnets.put(String(id), { id, ...fields });
}

export const updateSubnet: Handler = (call) => {
  const subnet = subnetOf(call);
  requireRight(call, 'can_edit_global_entities');
  const { form, region } = call;
  const errors = new FormErrors();
  const network = cidrField(call, errors, subnet);
  const gateway = gatewayField(call, errors);
  const dnsServers = dnsField(call, errors);
  const vlan = vlanById(call, errors);
  checkGateway(errors, network ?? parseNetwork(subnet.cidr), gateway ?? subnet.gateway);
  errors.refuse();
  const row = region.subnets.edit(String(subnet.id));
  row.name = form.text('name')?.trim() || row.name;
  if (network) row.cidr = formatNetwork(network);
  row.gateway = gateway ?? row.gateway;
  row.dnsServers = dnsServers ?? row.dnsServers ?? [];
  row.vlan = vlan?.id ?? row.vlan;
  return json(viewSubnet(region, row));
};

/** Links, discovered addresses, ranges and routes go with their subnet. */
export const deleteSubnet: Handler = (call) => {
  const { region } = call;
  const { id } = subnetOf(call);
  requireRight(call, 'can_edit_global_entities');
  for (const machine of region.machines.values()) {
    const isHere = machine.interfaces.some(({ links, discovered }) =>
      [...links, ...discovered].some((one) => one.subnet === id),
    );
    if (!isHere) continue;
    const interfaces = machine.interfaces.map((nic) => ({
      ...nic,
      links: nic.links.filter(({ subnet }) => subnet !== id),
      discovered: nic.discovered.filter(({ subnet }) => subnet !== id),
    }));
    region.setInterfaces(machine, interfaces);
  }
  for (const range of [...region.ranges.values()]) if (range.subnet === id) region.ranges.delete(String(range.id));
  for (const { ip, subnet } of [...region.reserved.values()]) if (subnet === id) region.reserved.delete(ip);
  for (const route of [...region.routes.values()]) {
    if (route.source === id || route.destination === id) region.routes.delete(String(route.id));
  }
  region.subnets.delete(String(id));
  return deleted();
};

/** A subnet that a form must name. */
export function subnetIn({ form, region }: Call, field: string): Readonly<Subnet> {
  const given = form.text(field) ?? refuseField(field, REQUIRED);
  return region.subnets.get(given) ?? refuseField(field, NO_SUCH_CHOICE);
}

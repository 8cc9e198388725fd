import {
  type Answer,
  badRequest,
  deleted,
  forbidden,
  json,
  missing,
  notFound,
  refuse,
  unavailable,
} from '../answer.ts';
import { type Call, type Handler, may } from '../call.ts';
import { FormErrors } from '../form-errors.ts';
import { addressField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import type { Simulation } from '../simulation.ts';
import { viewUser } from '../users.ts';
import { findSubnet, subnetAround } from './find.ts';
import { formatAddress, parseAddress } from './ip.ts';
import type { ReservedAddress, Subnet } from './records.ts';
import { claimAddress, hostsOf, joined, networkOf, nextAddress, spanOf, unusedOf, usesOf } from './subnet-use.ts';
import { viewSubnet } from './view.ts';

const userReserved = { alloc_type: 4, alloc_type_name: 'User reserved' } as const;

const viewReserved = (region: Region, { ip, subnet, owner, at }: Readonly<ReservedAddress>): object => ({
  ...userReserved,
  created: new Date(at).toISOString(),
  ip,
  subnet: viewSubnet(region, region.subnet(subnet) as Subnet),
  interface_set: [],
  owner: viewUser(owner),
  resource_uri: '/MAAS/api/2.0/ipaddresses/',
});

/** Those that the caller has reserved. */
export const listReserved: Handler = ({ region, user }) =>
  json(
    [...region.reserved.values()]
      .filter(({ owner }) => owner === user.username)
      .map((one) => viewReserved(region, one)),
  );

/** The subnet and address that a reservation asks for; without an address MAAS chooses one. */
function wantedOf({ region, form }: Call): { readonly subnet: Readonly<Subnet>; readonly ip: string | null } {
  const errors = new FormErrors();
  const field = form.text('ip') === null ? 'ip_address' : 'ip';
  const given = form.text(field);
  const ip = given === null ? null : addressFieldAs(form, errors, field);
  errors.refuse();
  if (ip !== null) {
    const subnet = subnetAround(region, ip);
    return subnet ? { subnet, ip } : refuse(badRequest(`No known subnet for IP address: ${given}.`));
  }
  const wanted = form.text('subnet');
  if (wanted === null) return refuse(badRequest("Must supply either the 'subnet' or the 'ip' parameter."));
  const subnet = findSubnet(region, wanted) ?? refuse(badRequest(`Unable to identify subnet: ${wanted}.`));
  return { subnet, ip: null };
}

/** An address of either field; its problems are reported for `ip_address`. */
function addressFieldAs(form: Call['form'], errors: FormErrors, field: string): string | null {
  const wrong = new FormErrors();
  const ip = addressField(form, wrong, field);
  if (ip === null) errors.add('ip_address', 'Enter a valid IPv4 or IPv6 address.');
  return ip;
}

function refuseIfKept(region: Region, subnet: Readonly<Subnet>, ip: string): void {
  const value = parseAddress(ip)?.value ?? 0n;
  const around = [...region.ranges.values()].find((range) => {
    const { first, last } = spanOf(range);
    return range.subnet === subnet.id && first <= value && value <= last;
  });
  if (around?.type === 'dynamic') {
    const text = 'To reserve this IP address, a MAC address is required. (Create a device instead.)';
    refuse(forbidden(`IP address ${ip} belongs to an existing dynamic range. ${text}`));
  }
  if (region.addressGiven(ip)) refuse(missing(`The IP address ${ip} is already in use.`));
  if (around) refuse(missing(`${ip} is within the reserved range from ${around.start} to ${around.end}`));
}

export const reserve: Handler = (call) => {
  const { region, user, form, clock } = call;
  const { subnet, ip } = wantedOf(call);
  if (ip !== null) refuseIfKept(region, subnet, ip);
  const address = ip ?? claimAddress(region, subnet);
  const name = form.text('hostname');
  const record = name === null ? {} : { record: { id: region.next('dnsRecord'), name } };
  const row = { ip: address, subnet: subnet.id, owner: user.username, at: clock.now(), ...record };
  return json(viewReserved(region, region.reserved.put(address, row)));
};

/** By force, an administrator also releases that of another user. */
export const releaseReserved: Handler = ({ region, user, form }) => {
  const given = form.text('ip') ?? refuse(badRequest('No provided ip!'));
  const isForced = form.flag('force');
  if (isForced && !may(user, 'can_edit_machines'))
    refuse(forbidden('Force-releasing an IP address requires admin privileges.'));
  const errors = new FormErrors();
  const ip = addressField(form, errors, 'ip');
  errors.refuse();
  const found = region.reserved.get(ip ?? '');
  if (!found || (!isForced && found.owner !== user.username)) {
    const reason = isForced
      ? 'does not exist.'
      : 'does not exist, is not the correct type of address, or does not belong to the requesting user.\n' +
        'If you are sure you want to release this address, use force=true as a MAAS administrator.';
    return refuse(badRequest(`IP address ${given} ${reason}`));
  }
  region.reserved.delete(found.ip);
  return deleted();
};

// Answers of a subnet about its addresses.

const subnetOf = ({ region, parts }: Call): Readonly<Subnet> =>
  findSubnet(region, parts[0] ?? '') ?? refuse(notFound('Subnet'));

function viewSpan(subnet: Readonly<Subnet>, { first, last }: { first: bigint; last: bigint }): object {
  const { version } = networkOf(subnet);
  return {
    start: formatAddress({ version, value: first }),
    end: formatAddress({ version, value: last }),
    num_addresses: Number(last - first + 1n),
  };
}

export const freeRanges: Handler = (call) => {
  const subnet = subnetOf(call);
  return json(unusedOf(call.region, subnet).map((span) => viewSpan(subnet, span)));
};

export const usedRanges: Handler = (call) => {
  const subnet = subnetOf(call);
  return json(
    joined(usesOf(call.region, subnet)).map((span) => ({ ...viewSpan(subnet, span), purpose: span.purpose })),
  );
};

export const statistics: Handler = (call) => {
  const subnet = subnetOf(call);
  const network = networkOf(subnet);
  const hosts = hostsOf(network);
  const sizes = unusedOf(call.region, subnet).map(({ first, last }) => Number(last - first + 1n));
  const total = Number(hosts.last - hosts.first + 1n);
  const available = sizes.reduce((sum, size) => sum + size, 0);
  const percent = (share: number): string => `${Math.round(share * 100)}%`;
  return json({
    num_available: available,
    largest_available: Math.max(0, ...sizes),
    num_unavailable: total - available,
    total_addresses: total,
    usage: (total - available) / total,
    usage_string: percent((total - available) / total),
    available_string: percent(available / total),
    first_address: formatAddress({ version: network.version, value: hosts.first }),
    last_address: formatAddress({ version: network.version, value: hosts.last }),
    ip_version: network.version,
  });
};

const linkTypes = { auto: 0, static: 1, link_up: 1, dhcp: 5 } as const;

/** Each address of a subnet with who has it. */
export const listAddresses: Handler = (call) => {
  const { region } = call;
  const subnet = subnetOf(call);
  const found: { ip: string; fields: object }[] = [];
  for (const machine of region.machines.values()) {
    for (const nic of machine.interfaces) {
      const summary = {
        system_id: machine.id,
        node_type: 0,
        fqdn: `${machine.hostname}.${machine.domain}`,
        hostname: machine.hostname,
        is_container: false,
        via: nic.name,
      };
      for (const { address, subnet: on } of nic.discovered) {
        if (on === subnet.id) found.push({ ip: address, fields: { alloc_type: 6, node_summary: summary } });
      }
      for (const { address, subnet: on, mode } of nic.links) {
        if (on !== subnet.id || address === null) continue;
        const owner = machine.owner === null ? {} : { user: machine.owner };
        found.push({ ip: address, fields: { alloc_type: linkTypes[mode], node_summary: summary, ...owner } });
      }
    }
  }
  for (const { ip, subnet: on, owner, record } of region.reserved.values()) {
    const records = record ? { dns_records: [{ ...record, domain: 'maas' }] } : {};
    if (on === subnet.id) found.push({ ip, fields: { alloc_type: 4, user: owner, ...records } });
  }
  const value = (ip: string): bigint => parseAddress(ip)?.value ?? 0n;
  found.sort((a, b) => (value(a.ip) < value(b.ip) ? -1 : 1));
  return json(found.map(({ ip, fields }) => ({ ip, ...fields })));
};

/**
 * Finds an address for each link of mode AUTO that has none.
 * @returns the machine's interfaces with their addresses, or the 503 of a full subnet.
 */
export function findAddresses(
  sim: Simulation,
  machine: Readonly<Machine>,
): { readonly interfaces: Machine['interfaces'] } | { readonly exhausted: Answer } {
  const claimed: string[] = [];
  let isFull = false;
  const interfaces = machine.interfaces.map((nic) => ({
    ...nic,
    links: nic.links.map((link) => {
      const subnet = sim.region.subnet(link.subnet);
      if (!subnet || link.mode !== 'auto' || link.address !== null) return link;
      const address = nextAddress(sim.region, subnet, claimed);
      if (address === null) isFull = true;
      else claimed.push(address);
      return { ...link, address };
    }),
  }));
  if (isFull) {
    return { exhausted: unavailable(`${machine.id}: Unable to allocate static IP due to address exhaustion.`) };
  }
  return { interfaces };
}

/** Releases the addresses from `findAddresses`; fixed addresses stay. */
export function dropAddresses(sim: Simulation, machine: Readonly<Machine>): void {
  const interfaces = machine.interfaces.map((nic) => ({
    ...nic,
    links: nic.links.map((link) => (link.mode === 'auto' ? { ...link, address: null } : link)),
  }));
  sim.region.setInterfaces(machine, interfaces);
}

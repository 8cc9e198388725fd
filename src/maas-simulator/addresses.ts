import { type Answer, badRequest, json, missing, notFound, refuse, unavailable } from './answer.js';
import type { Handler } from './call.js';
import { viewSubnet } from './network-view.js';
import type { Link, Machine, ReservedAddress, Subnet } from './records.js';
import type { Region } from './region.js';
import type { Simulation } from './simulation.js';

/** The addresses of a /24 that MAAS assigns: all but network, gateway and broadcast. */
const hosts = { first: 2, last: 254 } as const;

const prefixOf = ({ cidr }: Readonly<Subnet>): string => cidr.split('.').slice(0, 3).join('.');

function firstFree(sim: Simulation, subnet: Readonly<Subnet>, claimed: ReadonlySet<string>): string | null {
  for (let host = hosts.first; host <= hosts.last; host++) {
    const address = `${prefixOf(subnet)}.${host}`;
    if (!sim.region.addressTaken(address) && !claimed.has(address)) return address;
  }
  return null;
}

const hostOf = (address: string): number => Number(address.split('.')[3]);

const viewReserved = (region: Region, { ip, subnet, owner }: Readonly<ReservedAddress>): object => ({
  alloc_type: 4,
  alloc_type_name: 'User reserved',
  ip,
  subnet: viewSubnet(region, region.subnets.get(String(subnet)) as Readonly<Subnet>),
  interface_set: [],
  owner: { username: owner },
  resource_uri: '/MAAS/api/2.0/ipaddresses/',
});

/** Those that the caller has reserved. */
export const listReserved: Handler = ({ region, user }) =>
  json(
    [...region.reserved.values()]
      .filter(({ owner }) => owner === user.username)
      .map((one) => viewReserved(region, one)),
  );

export const reserve: Handler = ({ region, user, form }) => {
  const ip = form.text('ip') ?? form.text('ip_address') ?? '';
  const subnet = [...region.subnets.values()].find((one) => ip.startsWith(`${prefixOf(one)}.`));
  if (subnet === undefined) return badRequest(`No subnet found for address ${ip}.`);
  if (region.addressTaken(ip)) return missing(`The IP address ${ip} is already in use.`);
  return json(viewReserved(region, region.reserved.put(ip, { ip, subnet: subnet.id, owner: user.username })));
};

export const freeRanges: Handler = ({ region, parts }) => {
  const subnet = region.subnets.get(parts[0] ?? '') ?? refuse(notFound('Subnet'));
  const kept = [...region.ranges.values()].filter((range) => range.subnet === subnet.id);
  const ranges: { start: string; end: string; num_addresses: number }[] = [];
  let last = 0;
  for (let host = hosts.first; host <= hosts.last; host++) {
    const address = `${prefixOf(subnet)}.${host}`;
    if (region.addressTaken(address) || kept.some(({ start, end }) => hostOf(start) <= host && host <= hostOf(end)))
      continue;
    const range = ranges.at(-1);
    if (range !== undefined && last === host - 1) {
      range.end = address;
      range.num_addresses += 1;
    } else ranges.push({ start: address, end: address, num_addresses: 1 });
    last = host;
  }
  return json(ranges);
};

const needsAddress = (link: Link): boolean => link.mode === 'auto' && link.address === null && link.subnet !== null;

/**
 * Finds an address for each link of mode AUTO that has none.
 * @returns the machine's interfaces with their addresses, or the 503 of a full subnet.
 */
export function findAddresses(
  sim: Simulation,
  machine: Readonly<Machine>,
): { readonly interfaces: Machine['interfaces'] } | { readonly exhausted: Answer } {
  const claimed = new Set<string>();
  let isFull = false;
  const interfaces = machine.interfaces.map((nic) => ({
    ...nic,
    links: nic.links.map((link) => {
      const subnet = sim.region.subnets.get(String(link.subnet));
      if (!subnet || !needsAddress(link)) return link;
      const address = firstFree(sim, subnet, claimed);
      if (address === null) isFull = true;
      else claimed.add(address);
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

import { type Answer, unavailable } from './answer.js';
import type { Link, Machine, Subnet } from './records.js';
import type { Simulation } from './simulation.js';

/** The addresses of a /24 that MAAS assigns: all but network, gateway and broadcast. */
const hosts = { first: 2, last: 254 } as const;

function firstFree(sim: Simulation, subnet: Readonly<Subnet>, claimed: ReadonlySet<string>): string | null {
  const prefix = subnet.cidr.split('.').slice(0, 3).join('.');
  for (let host = hosts.first; host <= hosts.last; host++) {
    const address = `${prefix}.${host}`;
    if (!sim.region.addressTaken(address) && !claimed.has(address)) return address;
  }
  return null;
}

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

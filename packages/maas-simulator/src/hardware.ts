import { cardsOf, findNetwork } from './network/commissioned.ts';
import type { Subnet } from './network/records.ts';
import type { Machine } from './records.ts';
import type { Region } from './region.ts';
import type { Simulation } from './simulation.ts';
import { hasRootFilesystem } from './storage/devices.ts';
import { newDisk } from './storage/disks.ts';
import { setLayout } from './storage/layouts.ts';

/** Machines per subnet before another subnet is added: each may have two addresses, found and given. */
const machinesPerSubnet = 100;

/** The first subnet of those that machines start in with space left; adds a /24 when all are full. */
export function subnetWithSpace(region: Region): Readonly<Subnet> {
  const used = new Map<number, number>();
  for (const machine of region.machines.values()) {
    const subnets = new Set(machine.interfaces.flatMap(({ links }) => links.flatMap(({ subnet }) => subnet ?? [])));
    for (const subnet of subnets) used.set(subnet, (used.get(subnet) ?? 0) + 1);
  }
  for (const subnet of region.subnets.values()) {
    const isProvisioning = subnet.name === 'prov' || subnet.name.startsWith('prov-');
    if (isProvisioning && (used.get(subnet.id) ?? 0) < machinesPerSubnet) return subnet;
  }
  return addProvisioning(region);
}

function addProvisioning(region: Region): Readonly<Subnet> {
  const id = region.next('subnet');
  const net = id - 1;
  const prefix = `10.${76 + Math.floor(net / 256)}.${net % 256}`;
  const first = [...region.subnets.values()].find(({ name }) => name === 'prov');
  const vlan = first?.vlan ?? region.defaultVlan().id;
  return region.subnets.put(String(id), {
    id,
    name: `prov-${id}`,
    vlan,
    cidr: `${prefix}.0/24`,
    gateway: `${prefix}.1`,
  });
}

/** Subnets for many machines, without counting all links for each. */
export function subnetsInTurn(region: Region): () => Readonly<Subnet> {
  let current: Readonly<Subnet> | null = null;
  let left = 0;
  return () => {
    if (current === null) {
      current = subnetWithSpace(region);
      const { id } = current;
      const isOn = (machine: Readonly<Machine>): boolean =>
        machine.interfaces.some(({ links }) => links.some(({ subnet }) => subnet === id));
      left = machinesPerSubnet - [...region.machines.values()].filter(isOn).length;
    } else if (left === 0) {
      current = addProvisioning(region);
      left = machinesPerSubnet;
    }
    left -= 1;
    return current;
  };
}

/** The hardware that a commissioning finds: the cards of the machine, and a disk with a layout. */
export function discoverHardware(sim: Simulation, machine: Readonly<Machine>): void {
  equip(sim.region, machine, () => subnetWithSpace(sim.region));
}

export function equip(region: Region, machine: Readonly<Machine>, subnet: () => Readonly<Subnet>): void {
  const row = region.editMachine(machine);
  // A commissioning makes the tag of virtual machines, whether it finds one or not.
  const virtual = { name: 'virtual', definition: '', comment: '', kernel_opts: '' };
  if (!region.tags.has(virtual.name)) region.tags.put(virtual.name, virtual);
  if (row.cpuCount === 0) row.cpuCount = 8;
  if (row.memory === 0) row.memory = 32_768;
  if (row.disks.length === 0) {
    const fields = { name: 'sda', size: 500_107_862_016, blockSize: 512, model: 'Simulated', serial: machine.id };
    row.disks = [newDisk(region, fields)];
  }
  if (!machine.skips.storage && !hasRootFilesystem(machine)) setLayout(region, machine, 'flat');
  if (machine.skips.networking) return;
  findNetwork(region, machine, machine.foundNics ?? cardsOf(region, machine, subnet));
}

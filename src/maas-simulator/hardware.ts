import type { Disk, Filesystem, Link, Machine, NetworkInterface, Subnet } from './records.js';
import type { Region } from './region.js';
import type { Simulation } from './simulation.js';
import { hasRootFilesystem, spaceOf, stableUuid, volumeSpace } from './storage-view.js';

/** Machines per subnet before another subnet is added. */
const machinesPerSubnet = 200;

/** The layouts of `op=set_storage_layout`, in MAAS' order. */
export const storageLayouts = ['blank', 'vmfs7', 'lvm', 'flat', 'bcache', 'custom', 'vmfs6'] as const;

export function newInterface(region: Region, name: string, mac: string): NetworkInterface {
  return {
    id: region.next('interface'),
    name,
    type: 'physical',
    mac: mac.toLowerCase(),
    vlan: null,
    mtu: null,
    params: {},
    links: [],
    parents: [],
    tags: [],
  };
}

export function newLink(region: Region, mode: Link['mode'], subnet: number | null, address: string | null): Link {
  return { id: region.next('link'), mode, subnet, address };
}

export function newDisk(region: Region, fields: Omit<Disk, 'id' | 'filesystem' | 'partitions'>): Disk {
  return { id: region.next('disk'), ...fields, filesystem: null, partitions: [] };
}

/** Replaces all partitions and volumes by those of a layout on the boot disk; `blank` and `custom` leave none. */
export function setLayout(region: Region, machine: Readonly<Machine>, name: string): void {
  const row = region.editMachine(machine);
  const [boot, ...others] = machine.disks.map((disk) => ({ ...disk, filesystem: null, partitions: [] }));
  row.volumeGroups = [];
  row.disks = boot ? [boot, ...others] : [];
  if (!boot || name === 'blank' || name === 'custom') return;
  const partition = { id: region.next('partition'), size: spaceOf(boot), bootable: false };
  const made = (fstype: string, mount: string | null): Filesystem => ({
    fstype,
    label: mount === '/' ? 'root' : null,
    uuid: stableUuid(machine.id, fstype, partition.id),
    mountPoint: mount,
    mountOptions: null,
  });
  const isLvm = name === 'lvm';
  const uuid = stableUuid(machine.id, 'partition', partition.id);
  const filesystem = isLvm ? made('lvm-pv', null) : made('ext4', '/');
  row.disks = [{ ...boot, partitions: [{ ...partition, uuid, filesystem }] }, ...others];
  if (!isLvm) return;
  const id = region.next('disk');
  const volume = { id, name: 'lvroot', uuid: stableUuid(machine.id, 'volume', id), size: volumeSpace(partition.size) };
  row.volumeGroups = [
    {
      id,
      name: 'vgroot',
      uuid: stableUuid(machine.id, 'group', id),
      disks: [],
      partitions: [partition.id],
      volumes: [{ ...volume, filesystem: made('ext4', '/') }],
    },
  ];
}

/** The first subnet with space left; adds a /24 when all are full. */
export function subnetWithSpace(region: Region): Readonly<Subnet> {
  const used = new Map<number, number>();
  for (const machine of region.machines.values()) {
    for (const nic of machine.interfaces) {
      for (const link of nic.links) if (link.subnet !== null) used.set(link.subnet, (used.get(link.subnet) ?? 0) + 1);
    }
  }
  for (const subnet of region.subnets.values()) if ((used.get(subnet.id) ?? 0) < machinesPerSubnet) return subnet;
  return addSubnet(region);
}

export function addSubnet(region: Region): Readonly<Subnet> {
  const id = region.next('subnet');
  const net = id - 1;
  const prefix = `10.${77 + Math.floor(net / 256)}.${net % 256}`;
  return region.subnets.put(String(id), {
    id,
    name: `prov-${id}`,
    vlan: 5001,
    cidr: `${prefix}.0/24`,
    gateway: `${prefix}.1`,
  });
}

/** Adds what a real commissioning finds: a disk with a layout, and a linked interface. */
export function discoverHardware(sim: Simulation, machine: Readonly<Machine>): void {
  equip(sim.region, machine, () => subnetWithSpace(sim.region));
}

/** Adds what a machine needs for a deployment. */
export function equip(region: Region, machine: Readonly<Machine>, subnet: () => Readonly<Subnet>): void {
  const row = region.editMachine(machine);
  if (row.cpuCount === 0) row.cpuCount = 8;
  if (row.memory === 0) row.memory = 32_768;
  if (row.disks.length === 0) {
    const fields = { name: 'sda', size: 500_107_862_016, blockSize: 512, model: 'Simulated', serial: machine.id };
    row.disks = [newDisk(region, fields)];
  }
  if (!hasRootFilesystem(machine)) setLayout(region, machine, 'flat');
  const [nic, ...others] = machine.interfaces;
  if (nic && machine.interfaces.every((each) => each.links.length === 0)) {
    const { id, vlan } = subnet();
    region.setInterfaces(machine, [{ ...nic, vlan, links: [newLink(region, 'auto', id, null)] }, ...others]);
  }
}

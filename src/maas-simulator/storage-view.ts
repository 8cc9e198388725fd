import { createHash } from 'node:crypto';
import type { Disk, Layout, Machine } from './records.js';

const base = '/MAAS/api/2.0';

/** MAAS keeps this much of a disk for its partition table and alignment. */
const reserved = { unpartitioned: 7_503_872, partitioned: 1_212_416, volume: 4_194_304 } as const;

/** A uuid derived from its arguments, the same on each call. */
function stableUuid(...of: readonly (string | number)[]): string {
  const h = createHash('sha256').update(of.join(' ')).digest('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20, 32)}`;
}

const rootFilesystem = (machine: Readonly<Machine>, part: number): object => ({
  fstype: 'ext4',
  label: 'root',
  uuid: stableUuid(machine.id, 'root', part),
  mount_point: '/',
  mount_options: null,
});

const physicalVolume = (machine: Readonly<Machine>, part: number): object => ({
  fstype: 'lvm-pv',
  label: null,
  uuid: stableUuid(machine.id, 'pv', part),
  mount_point: null,
  mount_options: null,
});

function viewPartition(machine: Readonly<Machine>, disk: Disk, layout: Layout): object {
  const lvm = layout.name === 'lvm';
  return {
    uuid: stableUuid(machine.id, 'partition', layout.partition),
    size: disk.size - reserved.unpartitioned,
    bootable: false,
    tags: [],
    system_id: machine.id,
    id: layout.partition,
    used_for: lvm ? 'LVM volume for vgroot' : 'ext4 formatted filesystem mounted at /',
    type: 'partition',
    filesystem: lvm ? physicalVolume(machine, layout.partition) : rootFilesystem(machine, layout.partition),
    device_id: disk.id,
    path: `/dev/disk/by-dname/${disk.name}-part2`,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${disk.id}/partition/${layout.partition}`,
  };
}

/** Layouts that leave the disks without a root filesystem. */
const isPartitioned = (layout: Layout | null): layout is Layout =>
  layout !== null && layout.name !== 'blank' && layout.name !== 'custom';

export function viewDisk(machine: Readonly<Machine>, disk: Disk): object {
  const layout = isPartitioned(machine.layout) && machine.layout.bootDisk === disk.id ? machine.layout : null;
  return {
    firmware_version: null,
    id_path: '',
    available_size: layout ? 0 : disk.size - reserved.unpartitioned,
    block_size: disk.blockSize,
    partition_table_type: layout ? 'GPT' : null,
    model: disk.model,
    id: disk.id,
    used_for: layout ? 'GPT partitioned with 1 partition' : 'Unused',
    system_id: machine.id,
    name: disk.name,
    type: 'physical',
    serial: disk.serial,
    used_size: layout ? disk.size - reserved.partitioned : 0,
    path: `/dev/disk/by-dname/${disk.name}`,
    filesystem: null,
    tags: [],
    size: disk.size,
    partitions: layout ? [viewPartition(machine, disk, layout)] : [],
    uuid: null,
    numa_node: 0,
    storage_pool: null,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${disk.id}/`,
  };
}

/** The logical volume of layout `lvm`; no other layout makes a virtual disk. */
function viewVolume(machine: Readonly<Machine>, layout: Layout, disk: Disk): object {
  const size = disk.size - reserved.unpartitioned - reserved.volume;
  return {
    id_path: null,
    available_size: 0,
    block_size: 4096,
    partition_table_type: null,
    model: null,
    id: layout.volume,
    used_for: 'ext4 formatted filesystem mounted at /',
    system_id: machine.id,
    name: 'vgroot-lvroot',
    type: 'virtual',
    serial: null,
    used_size: size,
    path: '/dev/disk/by-dname/vgroot-lvroot',
    filesystem: rootFilesystem(machine, layout.volume),
    tags: [],
    size,
    partitions: [],
    uuid: stableUuid(machine.id, 'volume', layout.volume),
    numa_node: null,
    storage_pool: null,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${layout.volume}/`,
  };
}

/** The storage fields of a machine. */
export function viewStorage(machine: Readonly<Machine>): object {
  const disks = machine.disks.map((disk) => viewDisk(machine, disk));
  const boot = machine.disks.findIndex((disk) => disk.id === (machine.layout?.bootDisk ?? machine.disks[0]?.id));
  const lvm = machine.layout?.name === 'lvm' ? machine.layout : null;
  const lvmDisk = machine.disks.find((disk) => disk.id === lvm?.bootDisk);
  const volumes = lvm && lvmDisk ? [viewVolume(machine, lvm, lvmDisk)] : [];
  return {
    physicalblockdevice_set: disks,
    virtualblockdevice_set: volumes,
    blockdevice_set: [...disks, ...volumes],
    boot_disk: disks[boot] ?? null,
    storage: machine.disks.reduce((sum, disk) => sum + disk.size, 0) / 1_000_000,
    volume_groups: lvm ? [{ system_id: machine.id, id: lvm.volume, __incomplete__: true }] : [],
    cache_sets: [],
    bcaches: [],
    raids: [],
    special_filesystems: [],
    swap_size: null,
  };
}

/** True when a deployment would find a root filesystem. */
export const hasRootFilesystem = (machine: Readonly<Machine>): boolean => isPartitioned(machine.layout);

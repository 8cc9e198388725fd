import { createHash } from 'node:crypto';
import type { Disk, Filesystem, Machine, Partition, Volume, VolumeGroup } from './records.js';

const base = '/MAAS/api/2.0';

/** MAAS aligns to this, and keeps as much of a disk and of a physical volume for itself. */
const ALIGNMENT = 4_194_304;
/** Counted as used on a partitioned disk, besides its partitions. */
const TABLE = 6_291_456;

export const aligned = (bytes: number): number => Math.floor(bytes / ALIGNMENT) * ALIGNMENT;

/** Bytes of a disk that partitions can have. */
export const spaceOf = (disk: Pick<Disk, 'size'>): number => aligned(disk.size) - ALIGNMENT;

/** Bytes of a physical volume that logical volumes can have. */
export const volumeSpace = (size: number): number => aligned(size) - ALIGNMENT;

const total = (sizes: readonly { readonly size: number }[]): number => sizes.reduce((sum, { size }) => sum + size, 0);

export const freeSpaceOf = (disk: Disk): number => spaceOf(disk) - total(disk.partitions);

function groupSpace(machine: Readonly<Machine>, group: VolumeGroup): number {
  const disks = machine.disks.filter(({ id }) => group.disks.includes(id));
  const partitions = machine.disks.flatMap((disk) => disk.partitions).filter(({ id }) => group.partitions.includes(id));
  return [...disks, ...partitions].reduce((sum, { size }) => sum + volumeSpace(size), 0);
}

export const groupFree = (machine: Readonly<Machine>, group: VolumeGroup): number =>
  groupSpace(machine, group) - total(group.volumes);

/** A uuid derived from its arguments, the same on each call. */
export function stableUuid(...of: readonly (string | number)[]): string {
  const h = createHash('sha256').update(of.join(' ')).digest('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20, 32)}`;
}

const viewFilesystem = (filesystem: Filesystem | null): object | null =>
  filesystem && {
    fstype: filesystem.fstype,
    label: filesystem.label,
    uuid: filesystem.uuid,
    mount_point: filesystem.mountPoint,
    mount_options: filesystem.mountOptions,
  };

function usedFor(filesystem: Filesystem | null, group: VolumeGroup | undefined): string {
  if (group) return `LVM volume for ${group.name}`;
  if (!filesystem) return 'Unused';
  const { fstype, mountPoint } = filesystem;
  return mountPoint === null
    ? `Unmounted ${fstype} formatted filesystem`
    : `${fstype} formatted filesystem mounted at ${mountPoint}`;
}

export function viewPartition(machine: Readonly<Machine>, disk: Disk, partition: Partition): object {
  const { id, uuid, size, bootable, filesystem } = partition;
  const group = machine.volumeGroups.find(({ partitions }) => partitions.includes(id));
  return {
    uuid,
    size,
    bootable,
    tags: [],
    system_id: machine.id,
    id,
    used_for: usedFor(filesystem, group),
    type: 'partition',
    filesystem: viewFilesystem(filesystem),
    device_id: disk.id,
    path: `/dev/disk/by-dname/${disk.name}-part${disk.partitions.indexOf(partition) + 1}`,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${disk.id}/partition/${id}`,
  };
}

export function viewDisk(machine: Readonly<Machine>, disk: Disk): object {
  const { length } = disk.partitions;
  const group = machine.volumeGroups.find(({ disks }) => disks.includes(disk.id));
  const isUsed = group !== undefined || disk.filesystem !== null;
  return {
    firmware_version: null,
    id_path: '',
    available_size: isUsed ? 0 : freeSpaceOf(disk),
    block_size: disk.blockSize,
    partition_table_type: length > 0 ? 'GPT' : null,
    model: disk.model,
    id: disk.id,
    used_for:
      length > 0
        ? `GPT partitioned with ${length} partition${length === 1 ? '' : 's'}`
        : usedFor(disk.filesystem, group),
    system_id: machine.id,
    name: disk.name,
    type: 'physical',
    serial: disk.serial,
    used_size: isUsed ? disk.size : length > 0 ? total(disk.partitions) + TABLE : 0,
    path: `/dev/disk/by-dname/${disk.name}`,
    filesystem: viewFilesystem(disk.filesystem),
    tags: [],
    size: disk.size,
    partitions: disk.partitions.map((partition) => viewPartition(machine, disk, partition)),
    uuid: null,
    numa_node: 0,
    storage_pool: null,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${disk.id}/`,
  };
}

export function viewVolume(machine: Readonly<Machine>, group: VolumeGroup, volume: Volume): object {
  const { id, size, uuid, filesystem } = volume;
  return {
    id_path: null,
    available_size: filesystem ? 0 : size,
    block_size: 4096,
    partition_table_type: null,
    model: null,
    id,
    used_for: usedFor(filesystem, undefined),
    system_id: machine.id,
    name: `${group.name}-${volume.name}`,
    type: 'virtual',
    serial: null,
    used_size: filesystem ? size : 0,
    path: `/dev/disk/by-dname/${group.name}-${volume.name}`,
    filesystem: viewFilesystem(filesystem),
    tags: [],
    size,
    partitions: [],
    uuid,
    numa_node: null,
    storage_pool: null,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${id}/`,
  };
}

export function viewGroup(machine: Readonly<Machine>, group: VolumeGroup): object {
  const size = groupSpace(machine, group);
  const disks = machine.disks.filter(({ id }) => group.disks.includes(id));
  return {
    system_id: machine.id,
    id: group.id,
    uuid: group.uuid,
    name: group.name,
    devices: [
      ...disks.map((disk) => viewDisk(machine, disk)),
      ...machine.disks.flatMap((disk) =>
        disk.partitions
          .filter(({ id }) => group.partitions.includes(id))
          .map((partition) => viewPartition(machine, disk, partition)),
      ),
    ],
    size,
    available_size: groupFree(machine, group),
    used_size: total(group.volumes),
    logical_volumes: group.volumes.map((volume) => viewVolume(machine, group, volume)),
    resource_uri: `${base}/nodes/${machine.id}/volume-group/${group.id}/`,
  };
}

/** The storage fields of a machine. */
export function viewStorage(machine: Readonly<Machine>): object {
  const disks = machine.disks.map((disk) => viewDisk(machine, disk));
  const volumes = machine.volumeGroups.flatMap((group) =>
    group.volumes.map((volume) => viewVolume(machine, group, volume)),
  );
  return {
    physicalblockdevice_set: disks,
    virtualblockdevice_set: volumes,
    blockdevice_set: [...disks, ...volumes],
    boot_disk: disks[0] ?? null,
    storage: machine.disks.reduce((sum, disk) => sum + disk.size, 0) / 1_000_000,
    volume_groups: machine.volumeGroups.map(({ id }) => ({ system_id: machine.id, id, __incomplete__: true })),
    cache_sets: [],
    bcaches: [],
    raids: [],
    special_filesystems: [],
    swap_size: null,
  };
}

/** True when a deployment would find a root filesystem. */
export const hasRootFilesystem = ({ disks, volumeGroups }: Readonly<Machine>): boolean =>
  [...disks, ...disks.flatMap((disk) => disk.partitions), ...volumeGroups.flatMap((group) => group.volumes)].some(
    ({ filesystem }) => filesystem?.mountPoint === '/',
  );

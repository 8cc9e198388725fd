import type { Machine } from '../records.ts';
import { cacheName, devicesOf, groupOf, inGroup, memberOf, partitionsOf } from './devices.ts';
import { asUsed } from './in-use.ts';
import type {
  AnyDevice,
  Bcache,
  CacheSet,
  Filesystem,
  Member,
  Partition,
  Raid,
  StorageGroup,
  VolumeGroup,
} from './records.ts';
import { freeForPartitions, groupSize, tableUse, total } from './sizes.ts';
import { bootDiskOf } from './storage.ts';

const base = '/MAAS/api/2.0';

const viewFilesystem = (filesystem: Filesystem | null): object | null =>
  filesystem && {
    fstype: filesystem.fstype,
    label: filesystem.label,
    uuid: filesystem.uuid,
    mount_point: filesystem.mountPoint,
    mount_options: filesystem.mountOptions,
  };

const isMember =
  (wanted: Member) =>
  ({ member }: CacheSet): boolean =>
    inGroup([member], wanted);

/** Purpose of the filesystem of a disk or partition. */
function purposeOf(machine: Readonly<Machine>, member: Member, { fstype, mountPoint }: Filesystem): string {
  if (mountPoint !== null) return `${fstype} formatted filesystem mounted at ${mountPoint}`;
  const group = groupOf(machine, member);
  if (group?.kind === 'lvm') return `LVM volume for ${group.name}`;
  if (group?.kind === 'raid')
    return `${fstype === 'raid' ? 'Active' : 'Spare'} ${group.level} device for ${group.name}`;
  if (group?.kind === 'bcache') return `Backing device for ${group.name}`;
  if (group?.kind === 'vmfs') return `VMFS extent for ${group.name}`;
  const cache = machine.cacheSets.find(isMember(member));
  return cache ? `Cache device for ${cacheName(machine, cache)}` : `Unmounted ${fstype} formatted filesystem`;
}

export function viewPartition(machine: Readonly<Machine>, device: AnyDevice, partition: Partition): object {
  const { id, filesystem } = partition;
  return {
    uuid: partition.uuid,
    size: partition.size,
    bootable: partition.bootable,
    tags: partition.tags,
    system_id: machine.id,
    id,
    used_for: filesystem ? purposeOf(machine, { kind: 'partition', id }, filesystem) : 'Unused',
    type: 'partition',
    filesystem: viewFilesystem(filesystem),
    device_id: device.id,
    path: `/dev/disk/by-dname/${deviceName(machine, device)}-part${partition.index}`,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${device.id}/partition/${id}`,
  };
}

/** A logical volume is named with its group. */
export function deviceName(machine: Readonly<Machine>, device: AnyDevice): string {
  const group = device.type === 'virtual' ? machine.groups.find(({ id }) => id === device.group) : undefined;
  return group?.kind === 'lvm' ? `${group.name}-${device.name}` : device.name;
}

function useOf(machine: Readonly<Machine>, device: AnyDevice): string {
  if (device.filesystem) return purposeOf(machine, { kind: 'disk', id: device.id }, device.filesystem);
  if (device.partitions === null) return 'Unused';
  const { length } = device.partitions;
  return `GPT partitioned with ${length} partition${length > 1 ? 's' : ''}`;
}

/** Fields of disks only, and of devices made of others only. */
function viewKind(device: AnyDevice): object {
  return device.type === 'physical'
    ? { id_path: '', model: device.model, serial: device.serial, uuid: null, numa_node: 0 }
    : { id_path: null, model: null, serial: null, uuid: device.uuid, numa_node: null };
}

export function viewDevice(machine: Readonly<Machine>, device: AnyDevice): object {
  const { id, filesystem, partitions, size } = device;
  const name = deviceName(machine, device);
  const used = partitions === null ? 0 : tableUse(machine, device);
  return {
    ...viewKind(device),
    firmware_version: null,
    available_size: filesystem ? 0 : freeForPartitions(machine, device),
    block_size: device.blockSize,
    partition_table_type: partitions === null ? null : 'GPT',
    id,
    used_for: useOf(machine, device),
    system_id: machine.id,
    name,
    type: device.type,
    used_size: filesystem ? size : used,
    path: `/dev/disk/by-dname/${name}`,
    filesystem: viewFilesystem(filesystem),
    tags: device.tags,
    size,
    partitions: (partitions ?? []).map((partition) => viewPartition(machine, device, partition)),
    storage_pool: null,
    resource_uri: `${base}/nodes/${machine.id}/blockdevices/${id}/`,
  };
}

function viewMember(machine: Readonly<Machine>, member: Member): object {
  if (member.kind === 'disk') return viewDevice(machine, memberOf(machine, member) as AnyDevice);
  const found = partitionsOf(machine).find(({ partition }) => partition.id === member.id);
  return found ? viewPartition(machine, found.device, found.partition) : {};
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

function human(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export const volumesOf = (machine: Readonly<Machine>, { id }: StorageGroup): Readonly<Machine>['virtual'] =>
  machine.virtual.filter(({ group }) => group === id);

const sizeOfGroup = (machine: Readonly<Machine>, { members }: VolumeGroup): number =>
  groupSize(members.map((member) => memberOf(machine, member)));

export const freeOfGroup = (machine: Readonly<Machine>, group: VolumeGroup): number =>
  sizeOfGroup(machine, group) - total(volumesOf(machine, group));

export function viewVolumeGroup(machine: Readonly<Machine>, group: VolumeGroup): object {
  const [size, free] = [sizeOfGroup(machine, group), freeOfGroup(machine, group)];
  return {
    system_id: machine.id,
    id: group.id,
    uuid: group.uuid,
    name: group.name,
    devices: group.members.map((member) => viewMember(machine, member)),
    size,
    human_size: human(size),
    available_size: free,
    human_available_size: human(free),
    used_size: size - free,
    human_used_size: human(size - free),
    logical_volumes: volumesOf(machine, group).map((volume) => viewDevice(machine, volume)),
    resource_uri: `${base}/nodes/${machine.id}/volume-group/${group.id}/`,
  };
}

function viewOnly(machine: Readonly<Machine>, group: StorageGroup): { size: number; virtual_device: object | null } {
  const [device] = volumesOf(machine, group);
  return { size: device?.size ?? 0, virtual_device: device ? viewDevice(machine, device) : null };
}

export function viewRaid(machine: Readonly<Machine>, raid: Raid): object {
  const { size, virtual_device } = viewOnly(machine, raid);
  const active = raid.members.filter((member) => !inGroup(raid.spares, member));
  return {
    system_id: machine.id,
    id: raid.id,
    uuid: raid.uuid,
    name: raid.name,
    level: raid.level,
    devices: active.map((member) => viewMember(machine, member)),
    spare_devices: raid.spares.map((member) => viewMember(machine, member)),
    size,
    human_size: human(size),
    virtual_device,
    resource_uri: `${base}/nodes/${machine.id}/raid/${raid.id}/`,
  };
}

export const viewCacheSet = (machine: Readonly<Machine>, set: CacheSet): object => ({
  system_id: machine.id,
  id: set.id,
  name: cacheName(machine, set),
  cache_device: viewMember(machine, set.member),
  resource_uri: `${base}/nodes/${machine.id}/bcache-cache-set/${set.id}/`,
});

export function viewBcache(machine: Readonly<Machine>, bcache: Bcache): object {
  const { size, virtual_device } = viewOnly(machine, bcache);
  const set = machine.cacheSets.find(({ id }) => id === bcache.cacheSet);
  return {
    system_id: machine.id,
    id: bcache.id,
    uuid: bcache.uuid,
    name: bcache.name,
    cache_set: set ? viewCacheSet(machine, set) : null,
    backing_device: bcache.members[0] ? viewMember(machine, bcache.members[0]) : null,
    size,
    human_size: human(size),
    virtual_device,
    cache_mode: bcache.mode,
    resource_uri: `${base}/nodes/${machine.id}/bcache/${bcache.id}/`,
  };
}

/** The storage fields of a machine. */
export function viewStorage(given: Readonly<Machine>): object {
  const machine = asUsed(given);
  const all = devicesOf(machine).map((device) => viewDevice(machine, device));
  const boot = bootDiskOf(machine);
  const stubs = (items: readonly { readonly id: number }[]): object[] =>
    items.map(({ id }) => ({ system_id: machine.id, id, __incomplete__: true }));
  const ofKind = (kind: StorageGroup['kind']): object[] => stubs(machine.groups.filter((group) => group.kind === kind));
  return {
    physicalblockdevice_set: machine.disks.map((disk) => viewDevice(machine, disk)),
    virtualblockdevice_set: machine.virtual.map((device) => viewDevice(machine, device)),
    blockdevice_set: all,
    boot_disk: boot ? viewDevice(machine, boot) : null,
    storage: total(machine.disks) / 1_000_000,
    volume_groups: ofKind('lvm'),
    cache_sets: stubs(machine.cacheSets),
    bcaches: ofKind('bcache'),
    raids: ofKind('raid'),
    special_filesystems: [],
    swap_size: null,
  };
}

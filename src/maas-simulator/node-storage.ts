import { MachineStatus } from '../maas/status.js';
import { conflict, deleted, invalidForm, invalidRequest, json, notFound, refuse } from './answer.js';
import { administeredMachineOf, type Call, type Handler, machineOf } from './call.js';
import { newDisk } from './hardware.js';
import type { Disk, Filesystem, Machine, Partition, Volume, VolumeGroup } from './records.js';
import {
  aligned,
  freeSpaceOf,
  groupFree,
  stableUuid,
  viewDisk,
  viewGroup,
  viewPartition,
  viewVolume,
} from './storage-view.js';

/** By id or name among those of the kind. */
function named<Item extends { readonly id: number; readonly name?: string }>(
  items: readonly Item[],
  wanted: string | undefined,
  kind: string,
): Item {
  return items.find(({ id, name }) => String(id) === wanted || name === wanted) ?? refuse(notFound(kind));
}

const diskOf = (call: Call, machine: Readonly<Machine>): Disk => named(machine.disks, call.parts[1], 'BlockDevice');

const partitionOf = (call: Call, disk: Disk): Partition => named(disk.partitions, call.parts[2], 'Partition');

const groupOf = (call: Call, machine: Readonly<Machine>): VolumeGroup =>
  named(machine.volumeGroups, call.parts[1], 'VolumeGroup');

/** Changing what there is needs a Ready machine; formats and mounts may also be changed for an allocated one. */
function machineFor(call: Call, doing: string, isAllocatedToo = false): Readonly<Machine> {
  const machine = isAllocatedToo ? machineOf(call) : administeredMachineOf(call);
  const { status } = machine;
  const isAllocated = isAllocatedToo && status === MachineStatus.Allocated;
  if (status !== MachineStatus.Ready && !isAllocated) {
    refuse(conflict(`Cannot ${doing} because the machine is not Ready${isAllocatedToo ? ' or Allocated' : ''}.`));
  }
  return machine;
}

export const listDisks: Handler = (call) => {
  const machine = machineOf(call);
  return json(machine.disks.map((disk) => viewDisk(machine, disk)));
};

export const readDisk: Handler = (call) => {
  const machine = machineOf(call);
  const found = volumeOf(call, machine);
  return json(found ? viewVolume(machine, found.group, found.volume) : viewDisk(machine, diskOf(call, machine)));
};

export const createDisk: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const { form, region } = call;
  const errors: Record<string, readonly string[]> = {};
  for (const name of ['name', 'size', 'block_size']) {
    const value = form.text(name);
    if (value === null) errors[name] = ['This field is required.'];
    else if (name !== 'name' && !/^\d+$/.test(value)) errors[name] = ['Enter a whole number.'];
  }
  if (form.text('id_path') === null && (form.text('model') === null || form.text('serial') === null)) {
    errors.__all__ = ['serial/model are required if id_path is not provided.'];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
  const name = form.text('name') ?? '';
  if (machine.disks.some((disk) => disk.name === name)) {
    refuse(invalidRequest({ __all__: ['Block device with this Node config and Name already exists.'] }));
  }
  const disk = newDisk(region, {
    name,
    size: Number(form.text('size')),
    blockSize: Number(form.text('block_size')),
    model: form.get('model') ?? '',
    serial: form.get('serial') ?? '',
  });
  region.editMachine(machine).disks = [...machine.disks, disk];
  return json(viewDisk(machine, disk));
};

export const deleteDisk: Handler = (call) => {
  const machine = machineFor(call, 'delete block device');
  const disk = diskOf(call, machine);
  call.region.editMachine(machine).disks = machine.disks.filter((other) => other.id !== disk.id);
  return deleted();
};

export const setBootDisk: Handler = (call) => {
  const machine = machineFor(call, 'set as boot disk');
  const disk = diskOf(call, machine);
  const row = call.region.editMachine(machine);
  row.disks = [disk, ...machine.disks.filter((other) => other.id !== disk.id)];
  return json(viewDisk(machine, disk));
};

function replaceDisk(call: Call, machine: Readonly<Machine>, disk: Disk): void {
  call.region.editMachine(machine).disks = machine.disks.map((other) => (other.id === disk.id ? disk : other));
}

function replaceGroup(call: Call, machine: Readonly<Machine>, group: VolumeGroup): void {
  const row = call.region.editMachine(machine);
  row.volumeGroups = machine.volumeGroups.map((other) => (other.id === group.id ? group : other));
}

/** The volume with the id of the path, which MAAS numbers among the disks. */
function volumeOf(call: Call, machine: Readonly<Machine>): { group: VolumeGroup; volume: Volume } | undefined {
  for (const group of machine.volumeGroups) {
    const volume = group.volumes.find(({ id }) => String(id) === call.parts[1]);
    if (volume) return { group, volume };
  }
  return undefined;
}

/** A size of the form, or all that is free; refused when it is too large or small. */
function sizeOf(call: Call, free: number): number {
  const given = call.form.text('size');
  const size = given === null ? free : aligned(Number(given));
  if (Number.isNaN(size)) return refuse(invalidForm({ size: ['Enter a whole number.'] }));
  if (size < 4_194_304)
    return refuse(invalidForm({ size: ['Ensure this value is greater than or equal to 4194304.'] }));
  if (size > free) return refuse(invalidForm({ size: [`Ensure this value is less than or equal to ${free}.`] }));
  return size;
}

export const createPartition: Handler = (call) => {
  const machine = machineFor(call, 'create partition');
  const disk = diskOf(call, machine);
  const id = call.region.next('partition');
  const uuid = call.form.text('uuid') ?? stableUuid(machine.id, 'partition', id);
  const size = sizeOf(call, freeSpaceOf(disk));
  const partition = { id, uuid, size, bootable: call.form.flag('bootable'), filesystem: null };
  const changed = { ...disk, partitions: [...disk.partitions, partition] };
  replaceDisk(call, machine, changed);
  return json(viewPartition(machine, changed, partition));
};

export const listPartitions: Handler = (call) => {
  const machine = machineOf(call);
  const disk = diskOf(call, machine);
  return json(disk.partitions.map((partition) => viewPartition(machine, disk, partition)));
};

export const readPartition: Handler = (call) => {
  const machine = machineOf(call);
  const disk = diskOf(call, machine);
  return json(viewPartition(machine, disk, partitionOf(call, disk)));
};

export const deletePartition: Handler = (call) => {
  const machine = machineFor(call, 'delete block device');
  const disk = diskOf(call, machine);
  const { id } = partitionOf(call, disk);
  const group = machine.volumeGroups.find(({ partitions }) => partitions.includes(id));
  if (group) refuse(invalidRequest({ __all__: [`Partition is part of ${group.name}.`] }));
  replaceDisk(call, machine, { ...disk, partitions: disk.partitions.filter((other) => other.id !== id) });
  return deleted();
};

export const listGroups: Handler = (call) => {
  const machine = machineOf(call);
  return json(machine.volumeGroups.map((group) => viewGroup(machine, group)));
};

export const readGroup: Handler = (call) => {
  const machine = machineOf(call);
  return json(viewGroup(machine, groupOf(call, machine)));
};

const physicalVolume = (machine: Readonly<Machine>, id: number): Filesystem => ({
  fstype: 'lvm-pv',
  label: null,
  uuid: stableUuid(machine.id, 'lvm-pv', id),
  mountPoint: null,
  mountOptions: null,
});

export const createGroup: Handler = (call) => {
  const machine = machineFor(call, 'create volume group');
  const { form, region } = call;
  const name = form.text('name');
  if (name === null) return refuse(invalidForm({ name: ['This field is required.'] }));
  const disks = form.words('block_devices').map((id) => named(machine.disks, id, 'BlockDevice').id);
  const all = machine.disks.flatMap((disk) => disk.partitions);
  const partitions = form.words('partitions').map((id) => named(all, id, 'Partition').id);
  if (disks.length + partitions.length === 0) {
    const text = 'At least one valid block device or partition is required.';
    refuse(invalidForm({ __all__: [text] }));
  }
  const id = region.next('disk');
  const uuid = form.text('uuid') ?? stableUuid(machine.id, 'group', id);
  const group = { id, name, uuid, disks, partitions, volumes: [] };
  const row = region.editMachine(machine);
  row.volumeGroups = [...machine.volumeGroups, group];
  row.disks = machine.disks.map((disk) => ({
    ...disk,
    filesystem: disks.includes(disk.id) ? physicalVolume(machine, disk.id) : disk.filesystem,
    partitions: disk.partitions.map((partition) =>
      partitions.includes(partition.id)
        ? { ...partition, filesystem: physicalVolume(machine, partition.id) }
        : partition,
    ),
  }));
  return json(viewGroup(machine, group));
};

export const deleteGroup: Handler = (call) => {
  const machine = machineFor(call, 'delete volume group');
  const group = groupOf(call, machine);
  if (group.volumes.length > 0) {
    refuse(invalidRequest({ __all__: ['This volume group has logical volumes; it cannot be deleted.'] }));
  }
  const row = call.region.editMachine(machine);
  row.volumeGroups = machine.volumeGroups.filter((other) => other.id !== group.id);
  row.disks = machine.disks.map((disk) => ({
    ...disk,
    filesystem: group.disks.includes(disk.id) ? null : disk.filesystem,
    partitions: disk.partitions.map((partition) =>
      group.partitions.includes(partition.id) ? { ...partition, filesystem: null } : partition,
    ),
  }));
  return deleted();
};

export const createVolume: Handler = (call) => {
  const machine = machineFor(call, 'create logical volume');
  const group = groupOf(call, machine);
  const name = call.form.text('name');
  if (name === null) return refuse(invalidForm({ name: ['This field is required.'] }));
  const size = sizeOf(call, groupFree(machine, group));
  const id = call.region.next('disk');
  const uuid = call.form.text('uuid') ?? stableUuid(machine.id, 'volume', id);
  const volume = { id, name, uuid, size, filesystem: null };
  const changed = { ...group, volumes: [...group.volumes, volume] };
  replaceGroup(call, machine, changed);
  return json(viewVolume(machine, changed, volume));
};

export const deleteVolume: Handler = (call) => {
  const machine = machineFor(call, 'delete logical volume');
  const group = groupOf(call, machine);
  const wanted = call.form.text('id');
  replaceGroup(call, machine, { ...group, volumes: group.volumes.filter(({ id }) => String(id) !== wanted) });
  return deleted();
};

const fstypes = ['ext2', 'ext4', 'xfs', 'btrfs', 'fat32', 'vfat', 'swap'] as const;

/** A change of the filesystem of a disk, partition or volume. */
type FilesystemChange = (call: Call, machine: Readonly<Machine>, present: Filesystem | null) => Filesystem | null;

const format: FilesystemChange = ({ form }, machine) => {
  const fstype = form.text('fstype');
  if (fstype === null) return refuse(invalidForm({ fstype: ['This field is required.'] }));
  if (!(fstypes as readonly string[]).includes(fstype)) {
    const text = `Select a valid choice. ${fstype} is not one of the available choices.`;
    return refuse(invalidForm({ fstype: [text] }));
  }
  const uuid = form.text('uuid') ?? stableUuid(machine.id, fstype, form.text('label') ?? '');
  return { fstype, label: form.text('label') ?? '', uuid, mountPoint: null, mountOptions: null };
};

const unformat: FilesystemChange = (_call, _machine, present) => {
  if (!present) refuse(invalidRequest({ __all__: ['It is not formatted.'] }));
  if (present?.mountPoint != null) refuse(invalidRequest({ __all__: ['Filesystem is mounted.'] }));
  return null;
};

const mount: FilesystemChange = ({ form }, machine, present) => {
  if (!present) return refuse(invalidForm({ __all__: ['Cannot mount an unformatted partition or block device.'] }));
  const isSwap = present.fstype === 'swap';
  const point = isSwap ? 'none' : form.text('mount_point');
  if (point === null) return refuse(invalidForm({ mount_point: ['This field is required.'] }));
  const all = [
    ...machine.disks,
    ...machine.disks.flatMap((disk) => disk.partitions),
    ...machine.volumeGroups.flatMap((group) => group.volumes),
  ];
  if (!isSwap && all.some(({ filesystem }) => filesystem?.mountPoint === point)) {
    refuse(invalidForm({ mount_point: [`Another filesystem is mounted at ${point}.`] }));
  }
  return { ...present, mountPoint: point, mountOptions: form.text('mount_options') };
};

const unmount: FilesystemChange = (_call, _machine, present) => present && { ...present, mountPoint: null };

const onPartition =
  (doing: string, change: FilesystemChange): Handler =>
  (call) => {
    const machine = machineFor(call, `${doing} partition`, true);
    const disk = diskOf(call, machine);
    const partition = partitionOf(call, disk);
    const changed = { ...partition, filesystem: change(call, machine, partition.filesystem) };
    const partitions = disk.partitions.map((other) => (other.id === partition.id ? changed : other));
    replaceDisk(call, machine, { ...disk, partitions });
    return json(viewPartition(machine, { ...disk, partitions }, changed));
  };

const onDevice =
  (doing: string, change: FilesystemChange): Handler =>
  (call) => {
    const machine = machineFor(call, `${doing} block device`, true);
    const found = volumeOf(call, machine);
    if (!found) {
      const disk = diskOf(call, machine);
      const changed = { ...disk, filesystem: change(call, machine, disk.filesystem) };
      replaceDisk(call, machine, changed);
      return json(viewDisk(machine, changed));
    }
    const { group, volume } = found;
    const changed = { ...volume, filesystem: change(call, machine, volume.filesystem) };
    const volumes = group.volumes.map((other) => (other.id === volume.id ? changed : other));
    replaceGroup(call, machine, { ...group, volumes });
    return json(viewVolume(machine, group, changed));
  };

const changes = { format, unformat, mount, unmount };

const each = (make: typeof onDevice): Readonly<Record<string, Handler>> =>
  Object.fromEntries(Object.entries(changes).map(([doing, change]) => [doing, make(doing, change)]));

/** Operations on partitions, and on disks and volumes. */
export const partitionOperations = each(onPartition);
export const deviceOperations = each(onDevice);

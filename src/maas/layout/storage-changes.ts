import {
  type DeviceReference,
  type DiskLayout,
  type FilesystemLayout,
  type StorageLayout,
  sizeInBytes,
  takesTheRest,
} from '../../core/machine-layout.js';
import type { Disk, Filesystem, Hardware, LayoutChange, Partition, Volume, VolumeGroup } from './hardware.js';

/** MAAS aligns partitions and volumes to this, and keeps as much of a disk and of a physical volume for itself. */
const ALIGNMENT = 4 * 1024 ** 2;
const aligned = (bytes: number): number => Math.floor(bytes / ALIGNMENT) * ALIGNMENT;

/** A partition or volume as it is to be. */
interface TargetPart {
  readonly name: string;
  readonly size: number;
  readonly bootable: boolean;
  readonly uuid?: string;
  readonly group?: string;
  readonly filesystem?: FilesystemLayout;
}

interface TargetDisk {
  readonly name: string;
  readonly isBoot: boolean;
  readonly group: string | undefined;
  readonly parts: readonly TargetPart[];
}

export interface TargetStorage {
  readonly disks: readonly TargetDisk[];
  readonly groups: StorageLayout['groups'];
}

/**
 * The disks that the documents describe, with sizes in bytes.
 * @param nameOf the name in MAAS of a device; reports a device that the machine lacks
 * @param report problems: what does not fit on a disk
 */
export function targetStorage(
  layout: StorageLayout,
  hardware: Hardware,
  nameOf: (device: DeviceReference, of: string) => string | undefined,
  report: (problem: string) => void,
): TargetStorage {
  const disks = layout.disks.flatMap((described): TargetDisk[] => {
    const name = nameOf(described.device, 'storage');
    const disk = hardware.disks.find((each) => each.name === name);
    if (name === undefined || !disk) return [];
    const space = aligned(disk.size) - ALIGNMENT;
    const parts = sized(described.partitions, space, `disk ${name}`, report);
    return [{ name, isBoot: described.isBoot === true, group: described.group, parts }];
  });
  const mounts = layout.disks.flatMap(({ partitions }) => partitions.map(({ filesystem }) => filesystem?.mountPoint));
  if (hardware.isUefi && !mounts.includes('/boot/efi')) {
    report('it starts by UEFI and the documents have no partition at /boot/efi: add one (fat32, 512m)');
  }
  return { disks, groups: layout.groups };
}

function sized(
  parts: readonly (DiskLayout['partitions'][number] | StorageLayout['groups'][number]['volumes'][number])[],
  space: number,
  where: string,
  report: (problem: string) => void,
): TargetPart[] {
  const least = parts.map(({ size }) => aligned(sizeInBytes(size, space)));
  const rest = space - least.reduce((sum, size) => sum + size, 0);
  if (rest < 0) report(`${where} has ${space} bytes, ${-rest} too few for what the documents put there`);
  return parts.map((part, index) => ({
    bootable: false,
    ...part,
    size: (least[index] ?? 0) + (takesTheRest(part.size) ? Math.max(0, rest) : 0),
  }));
}

/** The next call towards the target, from one reading; `undefined` when nothing is left to do. */
export function nextStorageChange(
  hardware: Hardware,
  target: TargetStorage,
  report: (problem: string) => void,
): LayoutChange | undefined {
  return clearing(hardware, target, report) ?? building(hardware, target, report);
}

const ready = { onlyWhenReady: true } as const;
const removed = (path: string, what: string): LayoutChange => ({
  method: 'delete',
  path,
  text: `remove ${what}`,
  ...ready,
});

/** Removes what is not as it should be, with all that is built upon it, the last first. */
function clearing(
  hardware: Hardware,
  target: TargetStorage,
  report: (problem: string) => void,
): LayoutChange | undefined {
  const [composite] = hardware.composites;
  if (composite) return removed(composite.path, composite.name);
  const doomed = new Map(
    hardware.disks.map((disk) => {
      const wanted = target.disks.find(({ name }) => name === disk.name)?.parts ?? [];
      const fits = fitting(disk.partitions, wanted);
      return [disk, disk.partitions.slice(fits)];
    }),
  );
  for (const group of hardware.groups) {
    const uses = [...doomed.values()].flat().some(({ id }) => group.partitions.includes(id));
    const wanted = uses ? undefined : groupLike(hardware, group, target);
    const volumes = wanted ? sized(wanted.volumes, group.size, `volume group ${group.name}`, report) : [];
    const extra = group.volumes.slice(fitting(group.volumes, volumes)).at(-1);
    if (extra) {
      return {
        method: 'post',
        path: `volume-group/${group.id}/`,
        op: 'delete_logical_volume',
        form: { id: extra.id },
        text: `remove volume ${extra.name} of ${group.name}`,
        ...ready,
      };
    }
    if (!wanted) return removed(`volume-group/${group.id}/`, `volume group ${group.name}`);
  }
  for (const [disk, partitions] of doomed) {
    const last = partitions.at(-1);
    if (last) return removed(`blockdevices/${disk.id}/partition/${last.id}`, `partition ${last.id} of ${disk.name}`);
    const { filesystem } = disk;
    const isMember = hardware.groups.some(({ disks }) => disks.includes(disk.id));
    if (!filesystem || isMember) continue;
    const op = filesystem.mountPoint === '' ? 'unformat' : 'unmount';
    return { method: 'post', path: `blockdevices/${disk.id}/`, op, text: `${op} ${disk.name}` };
  }
  return undefined;
}

/** How many of the present parts, from the first, are those wanted. */
function fitting(present: readonly (Partition | Volume)[], wanted: readonly TargetPart[]): number {
  const differs = present.findIndex((part, index) => {
    const as = wanted[index];
    if (!as) return true;
    return (
      Math.abs(part.size - as.size) > 2 * ALIGNMENT ||
      ('name' in part ? part.name !== as.name : part.bootable !== as.bootable) ||
      (as.uuid !== undefined && part.uuid.toLowerCase() !== as.uuid.toLowerCase()) ||
      !mayBecome(part.filesystem, as)
    );
  });
  return differs < 0 ? present.length : differs;
}

/** Whether a filesystem is the one wanted, or on the way there. */
function mayBecome(present: Filesystem | undefined, { group, filesystem: wanted }: TargetPart): boolean {
  if (!present) return true;
  if (group !== undefined) return present.fstype === 'lvm-pv';
  if (!wanted || present.fstype !== wanted.fstype) return false;
  const { mountPoint, label, uuid } = wanted;
  return (
    (label === undefined || present.label === label) &&
    (uuid === undefined || present.uuid.toLowerCase() === uuid.toLowerCase()) &&
    (present.mountPoint === '' ||
      (present.mountPoint === (mountPoint ?? 'none') &&
        (present.mountOptions || 'defaults') === (wanted.mountOptions ?? 'defaults')))
  );
}

/** The description of a group, if the group has the devices it names. */
function groupLike(hardware: Hardware, group: VolumeGroup, target: TargetStorage) {
  const wanted = target.groups.find(({ name }) => name === group.name);
  if (!wanted || (wanted.uuid !== undefined && wanted.uuid.toLowerCase() !== group.uuid.toLowerCase()))
    return undefined;
  const members = membersOf(hardware, target, group.name);
  const same = (a: readonly number[], b: readonly number[]) => a.length === b.length && a.every((id) => b.includes(id));
  return same(members.disks, group.disks) && same(members.partitions, group.partitions) ? wanted : undefined;
}

/** Ids of the disks and partitions of a group, as far as they are there. */
function membersOf(hardware: Hardware, target: TargetStorage, group: string) {
  const disks: number[] = [];
  const partitions: number[] = [];
  for (const wanted of target.disks) {
    const disk = hardware.disks.find(({ name }) => name === wanted.name);
    if (!disk) continue;
    if (wanted.group === group) disks.push(disk.id);
    for (const [index, part] of wanted.parts.entries()) {
      const made = disk.partitions[index];
      if (part.group === group && made) partitions.push(made.id);
    }
  }
  return { disks, partitions };
}

function building(
  hardware: Hardware,
  target: TargetStorage,
  report: (problem: string) => void,
): LayoutChange | undefined {
  for (const wanted of target.disks) {
    const disk = hardware.disks.find(({ name }) => name === wanted.name) as Disk;
    if (wanted.isBoot && hardware.bootDisk !== disk.id) {
      const text = `make ${disk.name} the boot disk`;
      return { method: 'post', path: `blockdevices/${disk.id}/`, op: 'set_boot_disk', text, ...ready };
    }
    for (const [index, part] of wanted.parts.entries()) {
      const made = disk.partitions[index];
      const { name, size, bootable, uuid } = part;
      if (!made) {
        return {
          method: 'post',
          path: `blockdevices/${disk.id}/partitions/`,
          form: { size, uuid, bootable },
          text: `create partition ${name} on ${disk.name}`,
          ...ready,
        };
      }
      const change = filesystemChange(`blockdevices/${disk.id}/partition/${made.id}`, made.filesystem, part);
      if (change) return change;
    }
  }
  for (const { name, uuid, volumes } of target.groups) {
    const group = hardware.groups.find((each) => each.name === name);
    if (!group) {
      const { disks, partitions } = membersOf(hardware, target, name);
      const form = { name, uuid, block_devices: disks.map(String), partitions: partitions.map(String) };
      return { method: 'post', path: 'volume-groups/', form, text: `create volume group ${name}`, ...ready };
    }
    for (const [index, volume] of sized(volumes, group.size, `volume group ${name}`, report).entries()) {
      const made = group.volumes[index];
      if (!made) {
        return {
          method: 'post',
          path: `volume-group/${group.id}/`,
          op: 'create_logical_volume',
          form: { name: volume.name, size: volume.size, uuid: volume.uuid },
          text: `create volume ${volume.name} in ${name}`,
          ...ready,
        };
      }
      const change = filesystemChange(`blockdevices/${made.id}/`, made.filesystem, volume);
      if (change) return change;
    }
  }
  return undefined;
}

function filesystemChange(
  path: string,
  present: Filesystem | undefined,
  { name, filesystem: wanted }: TargetPart,
): LayoutChange | undefined {
  if (!wanted) return undefined;
  const { fstype, uuid, label, mountPoint, mountOptions } = wanted;
  if (!present) {
    const form = { fstype, uuid, label };
    return { method: 'post', path, op: 'format', form, text: `format ${name} as ${fstype}` };
  }
  if (present.mountPoint !== '') return undefined;
  const form = { mount_point: mountPoint, mount_options: mountOptions };
  return { method: 'post', path, op: 'mount', form, text: `mount ${name} at ${mountPoint ?? 'none'}` };
}

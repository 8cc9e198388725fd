import type { Disk, Filesystem, Hardware, LayoutChange, Partition, Volume, VolumeGroup } from './hardware.ts';
import { isSameUuid } from './machine-layout.ts';
import { isCovered, partsOf, type TargetPart, type TargetStorage } from './target-storage.ts';

/** The next call towards the target, from one reading; `undefined` if nothing is left to do. */
export function nextStorageChange(
  hardware: Hardware,
  target: TargetStorage,
  report: (problem: string) => void,
): LayoutChange | undefined {
  return clearing(hardware, target, report) ?? building(hardware, target, report);
}

const ready = { onlyWhenReady: true } as const;
const removed = (path: string, what: string, found: string): LayoutChange => ({
  method: 'delete',
  path,
  text: `remove ${what}`,
  removes: true,
  wanted: `no ${what}`,
  found,
  ...ready,
});

/** Removes obstacles to the target, with all that is built upon them, the last first. Other disks stay as they are. */
function clearing(
  hardware: Hardware,
  target: TargetStorage,
  report: (problem: string) => void,
): LayoutChange | undefined {
  const [composite] = hardware.composites;
  if (composite) return removed(composite.path, composite.name, composite.name);
  const described = hardware.disks.filter((disk) => target.disks.some(({ name }) => name === disk.name));
  const doomed = new Map(described.map((disk) => [disk, doomedPartitions(hardware, disk, target)]));
  for (const group of hardware.groups) {
    const isInTheWay =
      target.groups.some(({ name }) => name === group.name) ||
      described.some(
        ({ id, partitions }) => group.disks.includes(id) || partitions.some((p) => group.partitions.includes(p.id)),
      );
    if (!isInTheWay) continue;
    const uses = [...doomed.values()].flat().some(({ id }) => group.partitions.includes(id));
    const wanted = uses ? undefined : groupLike(hardware, group, target);
    const volumes = wanted ? partsOf(wanted.volumes, group.size, `volume group ${group.name}`, report) : [];
    const extra = group.volumes.slice(fitting(group.volumes, volumes)).at(-1);
    if (extra) {
      return {
        method: 'post',
        path: `volume-group/${group.id}/`,
        op: 'delete_logical_volume',
        form: { id: extra.id },
        text: `remove volume ${extra.name} of ${group.name}`,
        removes: true,
        wanted: `volume group ${group.name} without ${extra.name} as it is`,
        found: shownPart(extra.name, extra),
        ...ready,
      };
    }
    if (!wanted) return removed(`volume-group/${group.id}/`, `volume group ${group.name}`, shownGroup(hardware, group));
  }
  for (const [disk, partitions] of doomed) {
    const last = partitions.at(-1);
    if (last) {
      const what = `partition ${disk.partitions.indexOf(last) + 1} of ${disk.name}`;
      return removed(`blockdevices/${disk.id}/partition/${last.id}`, what, shownPart(what, last));
    }
    const { filesystem } = disk;
    const isMember = hardware.groups.some(({ disks }) => disks.includes(disk.id));
    if (!filesystem || isMember) continue;
    const op = filesystem.mountPoint === '' ? 'unformat' : 'unmount';
    return {
      method: 'post',
      path: `blockdevices/${disk.id}/`,
      op,
      text: `${op} ${disk.name}`,
      removes: true,
      wanted: `${disk.name} without a filesystem of its own`,
      found: shownPart(disk.name, disk),
    };
  }
  return takenMountPoint(hardware, described, target);
}

/** Partitions of a described disk that are not those wanted, from the first that differs. */
function doomedPartitions(hardware: Hardware, disk: Disk, target: TargetStorage): readonly Partition[] {
  const wanted = target.disks.find(({ name }) => name === disk.name);
  if (!wanted) return [];
  if (wanted.group !== undefined && memberPartition(hardware, disk, wanted.group)) return [];
  return disk.partitions.slice(fitting(disk.partitions, wanted.parts));
}

/** For a group over a whole boot disk MAAS makes a partition, and uses that. */
function memberPartition({ groups, isUefi }: Hardware, disk: Disk, name: string): Partition | undefined {
  const [only, ...more] = disk.partitions;
  if (!only || more.length > 0 || !isCovered(disk, only, isUefi)) return undefined;
  return groups.some((group) => group.name === name && group.partitions.includes(only.id)) ? only : undefined;
}

/** A filesystem on another disk that is mounted where the documents mount theirs. */
function takenMountPoint(
  hardware: Hardware,
  described: readonly Disk[],
  target: TargetStorage,
): LayoutChange | undefined {
  const mountPoints = new Set(mountPointsOf(target));
  const others = hardware.disks.filter((disk) => !described.includes(disk));
  const kept = hardware.groups.filter(({ name }) => !target.groups.some((wanted) => wanted.name === name));
  const holders = [
    ...others.flatMap((disk) => [
      { path: `blockdevices/${disk.id}/`, what: disk.name, part: disk },
      ...disk.partitions.map((part, index) => ({
        path: `blockdevices/${disk.id}/partition/${part.id}`,
        what: `partition ${index + 1} of ${disk.name}`,
        part,
      })),
    ]),
    ...kept.flatMap(({ name, volumes }) =>
      volumes.map((part) => ({ path: `blockdevices/${part.id}/`, what: `volume ${part.name} of ${name}`, part })),
    ),
  ];
  const taken = holders.find(({ part }) => mountPoints.has(part.filesystem?.mountPoint));
  if (!taken) return undefined;
  const { path, what, part } = taken;
  const text = `unmount ${what}`;
  const wanted = `only the described filesystem at ${part.filesystem?.mountPoint}`;
  return { method: 'post', path, op: 'unmount', text, removes: true, wanted, found: shownPart(what, part) };
}

const mountPointsOf = ({ disks, groups }: TargetStorage): readonly (string | undefined)[] =>
  [...disks.flatMap(({ parts }) => parts), ...groups.flatMap(({ volumes }) => volumes)].flatMap(
    ({ filesystem }) => filesystem?.mountPoint ?? [],
  );

/** How many of the present parts, from the first, are those wanted. */
function fitting(present: readonly (Partition | Volume)[], wanted: readonly TargetPart[]): number {
  const differs = present.findIndex((part, index) => {
    const as = wanted[index];
    if (!as) return true;
    return (
      part.size !== as.size ||
      ('name' in part ? part.name !== as.name : part.bootable !== as.bootable) ||
      (as.uuid !== undefined && !isSameUuid(part.uuid, as.uuid)) ||
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
    (uuid === undefined || isSameUuid(present.uuid, uuid)) &&
    (present.mountPoint === '' ||
      (present.mountPoint === (mountPoint ?? 'none') &&
        (present.mountOptions || 'defaults') === (wanted.mountOptions ?? 'defaults')))
  );
}

/** The description of a group, if the group has the devices it names. */
function groupLike(hardware: Hardware, group: VolumeGroup, target: TargetStorage) {
  const wanted = target.groups.find(({ name }) => name === group.name);
  if (!wanted || (wanted.uuid !== undefined && !isSameUuid(wanted.uuid, group.uuid))) return undefined;
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
    if (wanted.group === group) {
      const made = memberPartition(hardware, disk, group);
      if (made) partitions.push(made.id);
      else disks.push(disk.id);
    }
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
      const boot = hardware.disks.find(({ id }) => id === hardware.bootDisk)?.name ?? 'none';
      return {
        method: 'post',
        path: `blockdevices/${disk.id}/`,
        op: 'set_boot_disk',
        text: `make ${disk.name} the boot disk`,
        wanted: `${disk.name} as the boot disk`,
        found: `the boot disk ${boot}`,
        ...ready,
      };
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
          wanted: `partition ${index + 1} of ${disk.name} with ${size} bytes`,
          found: shownDisk(disk),
          ...ready,
        };
      }
      const change = filesystemChange(`blockdevices/${disk.id}/partition/${made.id}`, made, part);
      if (change) return change;
    }
  }
  for (const { name, uuid, volumes } of target.groups) {
    const group = hardware.groups.find((each) => each.name === name);
    if (!group) {
      const { disks, partitions } = membersOf(hardware, target, name);
      const form = { name, uuid, block_devices: disks.map(String), partitions: partitions.map(String) };
      const members = hardware.disks.filter(
        (disk) => disks.includes(disk.id) || disk.partitions.some(({ id }) => partitions.includes(id)),
      );
      return {
        method: 'post',
        path: 'volume-groups/',
        form,
        text: `create volume group ${name}`,
        wanted: `volume group ${name} of ${members.map((disk) => disk.name).join(', ')}`,
        found: members.map(shownDisk).join('; '),
        ...ready,
      };
    }
    for (const [index, volume] of partsOf(volumes, group.size, `volume group ${name}`, report).entries()) {
      const made = group.volumes[index];
      if (!made) {
        return {
          method: 'post',
          path: `volume-group/${group.id}/`,
          op: 'create_logical_volume',
          form: { name: volume.name, size: volume.size, uuid: volume.uuid },
          text: `create volume ${volume.name} in ${name}`,
          wanted: `volume ${volume.name} of ${volume.size} bytes in ${name}`,
          found: shownGroup(hardware, group),
          ...ready,
        };
      }
      const change = filesystemChange(`blockdevices/${made.id}/`, made, volume);
      if (change) return change;
    }
  }
  return undefined;
}

function filesystemChange(
  path: string,
  made: Partition | Volume,
  { name, filesystem: wanted }: TargetPart,
): LayoutChange | undefined {
  if (!wanted) return undefined;
  const { fstype, uuid, label, mountOptions } = wanted;
  const found = shownPart(name, made);
  if (!made.filesystem) {
    const form = { fstype, uuid, label };
    const text = `format ${name} as ${fstype}`;
    return { method: 'post', path, op: 'format', form, text, wanted: `${name} with ${fstype}`, found };
  }
  if (made.filesystem.mountPoint !== '') return undefined;
  // MAAS mounts swap at `none`, and only swap.
  const mountPoint = wanted.mountPoint ?? 'none';
  const form = { mount_point: mountPoint, mount_options: mountOptions };
  const text = `mount ${name} at ${mountPoint}`;
  return { method: 'post', path, op: 'mount', form, text, wanted: `${name} at ${mountPoint}`, found };
}

function shownPart(name: string, { size, filesystem }: Pick<Partition, 'size' | 'filesystem'>): string {
  if (!filesystem) return `${name} with ${size} bytes, unformatted`;
  const at = filesystem.mountPoint === '' ? '' : ` at ${filesystem.mountPoint}`;
  return `${name} with ${size} bytes, ${filesystem.fstype}${at}`;
}

const shownDisk = (disk: Disk): string =>
  [shownPart(disk.name, disk), ...disk.partitions.map((part, index) => shownPart(`partition ${index + 1}`, part))].join(
    ', ',
  );

const shownGroup = (hardware: Hardware, { name, size, disks, partitions, volumes }: VolumeGroup): string => {
  const members = hardware.disks.flatMap((disk) => [
    ...(disks.includes(disk.id) ? [disk.name] : []),
    ...disk.partitions.flatMap(({ id }, index) =>
      partitions.includes(id) ? `partition ${index + 1} of ${disk.name}` : [],
    ),
  ]);
  const held = volumes.map((volume) => shownPart(volume.name, volume));
  return [`volume group ${name} of ${members.join(' and ')} with ${size} bytes`, ...held].join(', ');
};

import type { Disk, Hardware, Partition } from './hardware.ts';
import {
  type DeviceReference,
  type FilesystemLayout,
  type StorageLayout,
  sizeInBytes,
  takesTheRest,
} from './machine-layout.ts';

const MEBIBYTE = 1024 ** 2;
/** MAAS makes partitions and volumes of whole units of this, and none smaller. */
const UNIT = 4 * MEBIBYTE;
const aligned = (bytes: number): number => Math.floor(bytes / UNIT) * UNIT;

/** Space for partitions of a disk (recorded, 3.6.5): MAAS keeps 5 MiB for the partition table, and 1 MiB for grub on BIOS. */
const spaceOf = ({ size }: Pick<Disk, 'size'>, isUefi: boolean): number => aligned(size - (isUefi ? 5 : 6) * MEBIBYTE);

/** Space for volumes of a group over these devices: one unit of each is for LVM. */
const groupSpace = (sizes: readonly number[]): number =>
  aligned(sizes.reduce((sum, size) => sum + size, 0)) - sizes.length * UNIT;

/** Whether a partition takes all that its disk has. */
export const isCovered = (disk: Disk, partition: Partition, isUefi: boolean): boolean =>
  partition.size === spaceOf(disk, isUefi);

/** A partition or volume as it is to be. */
export interface TargetPart {
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

interface TargetGroup {
  readonly name: string;
  readonly uuid?: string;
  /** With sizes as documents write them: they are of the group that MAAS makes. */
  readonly volumes: StorageLayout['groups'][number]['volumes'];
}

export interface TargetStorage {
  readonly disks: readonly TargetDisk[];
  readonly groups: readonly TargetGroup[];
}

/**
 * The disks that the documents describe, with sizes in bytes.
 * @param nameOf the name in MAAS of a device; reports a device that the machine lacks
 * @param report problems: too little space on a disk or in a group
 */
export function targetStorage(
  layout: StorageLayout,
  hardware: Hardware,
  nameOf: (device: DeviceReference, of: string) => string | undefined,
  report: (problem: string) => void,
): TargetStorage {
  const { isUefi } = hardware;
  const users = new Map<string, string>();
  const disks = layout.disks.flatMap((described): TargetDisk[] => {
    const name = nameOf(described.device, 'storage');
    const disk = hardware.disks.find((each) => each.name === name);
    if (name === undefined || !disk) return [];
    const other = users.get(name);
    if (other !== undefined) report(`${described.device.name} and ${other} are the same disk ${name}`);
    users.set(name, described.device.name);
    const parts = partsOf(described.partitions, spaceOf(disk, isUefi), `disk ${name}`, report);
    return [{ name, isBoot: described.isBoot === true, group: described.group, parts }];
  });
  const target = { disks, groups: layout.groups };
  for (const { name, volumes } of layout.groups) {
    const sizes = memberSizes(hardware, target, name);
    if (sizes.length > 0) partsOf(volumes, groupSpace(sizes), `volume group ${name}`, report);
  }
  const isEfi = ({ filesystem }: { readonly filesystem?: { readonly mountPoint?: string } | undefined }): boolean =>
    filesystem?.mountPoint === '/boot/efi';
  const keptDisks = hardware.disks.filter(({ name }) => !users.has(name));
  const hasEfi =
    layout.disks.some(({ partitions }) => partitions.some(isEfi)) ||
    keptDisks.some(({ partitions }) => partitions.some(isEfi));
  if (isUefi && !hasEfi) {
    report('it starts by UEFI and the documents have no partition at /boot/efi: add one (fat32, 512m)');
  }
  return target;
}

/** Sizes of the devices of a group, as they will be. */
function memberSizes({ disks, bootDisk, isUefi }: Hardware, target: TargetStorage, group: string): readonly number[] {
  const boot = target.disks.find(({ isBoot }) => isBoot)?.name ?? disks.find(({ id }) => id === bootDisk)?.name;
  return target.disks.flatMap(({ name, group: whole, parts }) => {
    const disk = disks.find((each) => each.name === name);
    const ofParts = parts.filter((part) => part.group === group).map(({ size }) => size);
    if (!disk || whole !== group) return ofParts;
    // MAAS makes a partition of a boot disk, and uses that.
    return [...ofParts, name === boot ? spaceOf(disk, isUefi) : disk.size];
  });
}

/** Partitions or volumes with their sizes in bytes, of which `space` are there. */
export function partsOf(
  parts: readonly (
    | StorageLayout['disks'][number]['partitions'][number]
    | StorageLayout['groups'][number]['volumes'][number]
  )[],
  space: number,
  where: string,
  report: (problem: string) => void,
): TargetPart[] {
  const least = parts.map(({ size }) => aligned(sizeInBytes(size, space)));
  const rest = space - least.reduce((sum, size) => sum + size, 0);
  if (rest < 0) report(`${where} has ${space} bytes, ${-rest} too few for the documents' layout`);
  return parts.map((part, index) => {
    const size = (least[index] ?? 0) + (takesTheRest(part.size) ? Math.max(0, rest) : 0);
    if (size < UNIT && rest >= 0)
      report(`${where}: '${part.name}' would have ${size} bytes, and MAAS makes nothing smaller than ${UNIT}`);
    return { bootable: false, ...part, size };
  });
}

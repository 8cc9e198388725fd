import type { Machine } from '../records.ts';
import type { AnyDevice } from './records.ts';

const MIB = 2 ** 20;

/** Partitions and extents of volume groups are multiples of this. */
export const ALIGNMENT = 4 * MIB;

export const aligned = (bytes: number): number => Math.floor(bytes / ALIGNMENT) * ALIGNMENT;

export const total = (sizes: readonly { readonly size: number }[]): number =>
  sizes.reduce((sum, { size }) => sum + size, 0);

/** Space of a partition table: its start and end, and on a machine with a BIOS room for the boot loader. */
const tableSize = ({ isUefi }: Pick<Machine, 'isUefi'>): number => (isUefi ? 5 : 6) * MIB;

/** Bytes taken by the table and its partitions. */
export const tableUse = (machine: Readonly<Machine>, device: AnyDevice): number =>
  tableSize(machine) + total(device.partitions ?? []);

/** Bytes that further partitions can have, whatever else the device is used for. */
export const freeForPartitions = (machine: Readonly<Machine>, device: AnyDevice): number =>
  aligned(device.size - tableUse(machine, device));

/** Bytes of a volume group over members of these sizes: one extent of each is for LVM itself. */
export const groupSize = (members: readonly { readonly size: number }[]): number =>
  (Math.floor(total(members) / ALIGNMENT) - members.length) * ALIGNMENT;

const RAID_SUPERBLOCK = 128 * 1024;

/** Bytes of a RAID; spares count for the smallest size only. */
export function raidSize(
  level: string,
  members: readonly { readonly size: number }[],
  spares: readonly { readonly size: number }[],
): number {
  const smallest = Math.min(...[...members, ...spares].map(({ size }) => size));
  const count = members.length;
  switch (level) {
    case 'raid-0':
      return total([...members, ...spares]) - RAID_SUPERBLOCK * (count + spares.length);
    case 'raid-1':
      return smallest - RAID_SUPERBLOCK;
    case 'raid-5':
      return smallest * (count - 1) - RAID_SUPERBLOCK;
    case 'raid-6':
      return smallest * (count - 2) - RAID_SUPERBLOCK;
    default:
      return (smallest * count) / 2 - RAID_SUPERBLOCK;
  }
}

import { MachineStatus as S } from '@sitewright/maas/status';
import type { Machine } from '../records.ts';
import { devicesOf, partitionsOf } from './devices.ts';
import type { AnyDevice, Filesystem, Member, Partition, StorageLayout, UserFilesystems } from './records.ts';

/** States in which a machine shows the filesystems of its user instead of its own. */
const inUse: ReadonlySet<number> = new Set([
  S.Allocated,
  S.Deploying,
  S.Deployed,
  S.FailedDeployment,
  S.Releasing,
  S.FailedReleasing,
  S.DiskErasing,
  S.FailedDiskErasing,
  S.RescueMode,
  S.EnteringRescueMode,
  S.FailedEnteringRescueMode,
  S.ExitingRescueMode,
  S.FailedExitingRescueMode,
  S.Testing,
  S.FailedTesting,
]);

export const isInUse = ({ status }: Pick<Machine, 'status'>): boolean => inUse.has(status);

/** Filesystems for users; the other types are of groups. */
export const USER_FSTYPES: ReadonlySet<string> = new Set(
  'ext2 ext4 xfs fat32 vfat swap ramfs tmpfs btrfs zfsroot'.split(' '),
);

const keyOf = ({ kind, id }: Member): string => `${kind} ${id}`;

/** The filesystems that a user may change: what an allocation copies. */
export function userFilesystems(layout: StorageLayout): UserFilesystems {
  const all: [Member, Filesystem | null][] = [
    ...devicesOf(layout).map(({ id, filesystem }): [Member, Filesystem | null] => [{ kind: 'disk', id }, filesystem]),
    ...partitionsOf(layout).map(({ partition: { id, filesystem } }): [Member, Filesystem | null] => [
      { kind: 'partition', id },
      filesystem,
    ]),
  ];
  return Object.fromEntries(
    all.flatMap(([member, filesystem]) =>
      filesystem && USER_FSTYPES.has(filesystem.fstype) ? [[keyOf(member), filesystem]] : [],
    ),
  );
}

/** A machine as it is shown: while it is in use, with its user's filesystems. */
export function asUsed(machine: Readonly<Machine>): Readonly<Machine> {
  if (!isInUse(machine)) return machine;
  const of = <Item extends { readonly id: number; readonly filesystem: Filesystem | null }>(
    kind: Member['kind'],
    item: Item,
  ): Item => {
    const isOfGroup = item.filesystem !== null && !USER_FSTYPES.has(item.filesystem.fstype);
    const used = machine.userFilesystems[keyOf({ kind, id: item.id })] ?? null;
    return { ...item, filesystem: used ?? (isOfGroup ? item.filesystem : null) };
  };
  const device = <Device extends AnyDevice>(given: Device): Device => ({
    ...of('disk', given),
    partitions: given.partitions?.map((partition): Partition => of('partition', partition)) ?? null,
  });
  return { ...machine, disks: machine.disks.map(device), virtual: machine.virtual.map(device) };
}

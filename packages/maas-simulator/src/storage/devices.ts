import type { AnyDevice, CacheSet, Member, Partition, StorageGroup, StorageLayout } from './records.ts';

/** As MAAS names the kinds of groups in its messages. */
export const kindNames = { lvm: 'volume group', raid: 'RAID', bcache: 'Bcache', vmfs: 'VMFS' } as const;

export const inGroup = (members: readonly Member[], { kind, id }: Member): boolean =>
  members.some((member) => member.kind === kind && member.id === id);

/** Disks and devices made of them, by id. */
export const devicesOf = ({ disks, virtual }: StorageLayout): AnyDevice[] =>
  [...disks, ...virtual].sort((a, b) => a.id - b.id);

export const partitionsOf = (layout: StorageLayout): { device: AnyDevice; partition: Partition }[] =>
  devicesOf(layout).flatMap((device) => (device.partitions ?? []).map((partition) => ({ device, partition })));

/** The disk, device or partition that a member of a group is. */
export function memberOf(layout: StorageLayout, { kind, id }: Member): AnyDevice | Partition {
  const found =
    kind === 'disk'
      ? devicesOf(layout).find((device) => device.id === id)
      : partitionsOf(layout).find(({ partition }) => partition.id === id)?.partition;
  if (found === undefined) throw new Error(`no ${kind} ${id}`);
  return found;
}

export const groupOf = (layout: StorageLayout, member: Member): StorageGroup | undefined =>
  layout.groups.find((group) => inGroup(group.members, member));

export const cacheName = (layout: StorageLayout, { id }: CacheSet): string =>
  `cache${layout.cacheSets.findIndex((set) => set.id === id)}`;

/** True when a deployment would find a root filesystem. */
export const hasRootFilesystem = (layout: StorageLayout): boolean =>
  [...devicesOf(layout), ...partitionsOf(layout).map(({ partition }) => partition)].some(
    ({ filesystem }) => filesystem?.mountPoint === '/',
  );

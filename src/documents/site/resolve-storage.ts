import type {
  DeviceReference,
  DiskLayout,
  FilesystemLayout,
  StorageLayout,
  VolumeGroupLayout,
} from '@sitewright/maas/machine-layout';
import { sizeInBytes, takesTheRest } from '@sitewright/maas/machine-layout';
import type { ValuePath } from '../../core/data/plain-value.ts';
import type { Filesystem, Partition, PhysicalDevice, VolumeGroup } from '../schemas/machine-layout.ts';
import type { Owned, ReportLayout } from './owned-value.ts';

/** Characters that a filesystem holds; MAAS takes up to 255, and the installation fails. */
const LONGEST_LABEL: Readonly<Record<Filesystem, number>> = {
  ext2: 16,
  ext4: 16,
  xfs: 12,
  btrfs: 255,
  fat32: 11,
  vfat: 11,
  swap: 15,
};

/** Disks, partitions and volumes of a node, with all checks that need no machine. */
export function resolveStorage(
  { name: node, isManaged }: { readonly name: string; readonly isManaged: boolean },
  devices: ReadonlyMap<string, Owned<PhysicalDevice>>,
  groups: ReadonlyMap<string, Owned<VolumeGroup>>,
  device: (name: string) => DeviceReference,
  report: ReportLayout,
): StorageLayout {
  const wrong = (at: Owned<unknown>, message: string, hint: string, under: ValuePath = []): void =>
    report(at, { code: 'node.bad-storage', message, hint, under });
  const warn = (at: Owned<unknown>, message: string, hint: string, under: ValuePath = []): void =>
    report(at, { severity: 'warning', code: 'node.bad-storage', message, hint, under });
  const mounts = new Map<string, string>();
  const used = new Set<string>();

  const belongs = (at: Owned<unknown>, group: string, under: ValuePath): void => {
    used.add(group);
    if (!groups.has(group))
      warn(at, `there is no volume group '${group}'`, 'Add it under storage.volume_groups.', under);
  };
  const filesystemOf = (
    at: Owned<unknown>,
    { name, filesystem }: Pick<Partition, 'name' | 'filesystem'>,
    under: ValuePath,
  ): FilesystemLayout | undefined => {
    if (!filesystem) return undefined;
    const { fstype = 'ext4', mountpoint, mount_options: mountOptions, fs_uuid: uuid, fs_label: label } = filesystem;
    const isSwap = fstype === 'swap';
    if (mountpoint === undefined && !isSwap) return undefined;
    if (mountpoint === 'none' && !isSwap)
      wrong(
        at,
        `'${name}' (${fstype}) cannot be mounted at none`,
        'Only swap can: give it a path, or none at all.',
        under,
      );
    const longest = LONGEST_LABEL[fstype];
    if (label !== undefined && label.length > longest)
      wrong(at, `the label '${label}' has ${label.length} characters`, `${fstype} holds ${longest}.`, under);
    if (!isSwap && mountpoint !== undefined) {
      const other = mounts.get(mountpoint);
      if (other !== undefined)
        wrong(at, `'${other}' is mounted at ${mountpoint}, too`, 'Choose another mountpoint.', under);
      mounts.set(mountpoint, name);
    }
    return {
      fstype,
      ...(!isSwap && mountpoint !== undefined && { mountPoint: mountpoint }),
      ...(mountOptions !== undefined && { mountOptions }),
      ...(uuid !== undefined && { uuid }),
      ...(label !== undefined && { label }),
    };
  };
  const sizesOf = (
    at: Owned<unknown>,
    items: readonly { readonly name: string; readonly size?: string | undefined }[],
    under: ValuePath,
  ): void => {
    for (const { name, size } of items)
      if (size === undefined) wrong(at, `'${name}' has no size`, 'Give it one, such as 10g, 20% or >10g.', under);
    const percent = items.reduce(
      (sum, { size = '' }) => sum + (/^(\d+)%$/.exec(size)?.[1] ? Number.parseInt(size, 10) : 0),
      0,
    );
    if (percent > 99 && (isManaged || percent > 100))
      wrong(
        at,
        `the percentages of '${node}' are ${percent} in sum (DD2003)`,
        'Leave 1 %, or write >10g for the rest.',
        under,
      );
    const greedy = items.filter(({ size = '' }) => takesTheRest(size)).map(({ name }) => `'${name}'`);
    if (greedy.length > 1) {
      const hint = "Only one size may start with '>'.";
      wrong(at, `${greedy.join(' and ')} take all that is left`, hint, under);
    }
  };

  const disks = [...devices].map(([name, at]): DiskLayout => {
    const { labels, partitions = [], volume_group: group } = at.value;
    if (group !== undefined) belongs(at, group, ['volume_group']);
    if (group !== undefined && partitions.length > 0)
      wrong(at, `'${name}' has partitions and a volume group`, 'Choose one of them.', ['volume_group']);
    if (group === undefined && partitions.length === 0)
      wrong(at, `'${name}' of '${node}' has neither partitions nor a volume group`, 'Give it one of them (DD2002).');
    sizesOf(at, partitions, ['partitions']);
    const hasBoot = ['true', 'yes', '1'].includes(String(labels?.bootdrive ?? '').toLowerCase());
    return {
      device: device(name),
      ...((hasBoot || partitions.some(({ bootable }) => bootable)) && { isBoot: true }),
      ...(group !== undefined && { group }),
      partitions: partitions.map((partition) => {
        const { bootable, part_uuid: uuid, volume_group: of, size = '0m' } = partition;
        if (of !== undefined) belongs(at, of, ['partitions']);
        const filesystem = filesystemOf(at, partition, ['partitions']);
        if (of !== undefined && filesystem)
          wrong(at, `'${partition.name}' has a filesystem and a volume group`, 'Choose one of them.', ['partitions']);
        return {
          name: partition.name,
          size,
          ...(bootable && { bootable }),
          ...(uuid !== undefined && { uuid }),
          ...(of !== undefined && { group: of }),
          ...(filesystem && { filesystem }),
        };
      }),
    };
  });
  const boots = [...devices.values()].filter((_device, index) => disks[index]?.isBoot);
  for (const at of boots.slice(1))
    wrong(at, 'a second disk is the boot disk', 'Mark partitions of one disk as bootable, and label one bootdrive.');

  const volumeGroups = [...groups].map(([name, at]): VolumeGroupLayout => {
    const { vg_uuid: uuid, logical_volumes: volumes = [] } = at.value;
    if (!used.has(name)) {
      const hint = 'Name it as volume_group of a device under storage.physical_devices.';
      wrong(at, `no disk or partition belongs to the volume group '${name}'`, hint);
    }
    sizesOf(at, volumes, ['logical_volumes']);
    return {
      name,
      ...(uuid !== undefined && { uuid }),
      volumes: volumes.map((volume) => {
        const filesystem = filesystemOf(at, volume, ['logical_volumes']);
        const { lv_uuid: id, size = '0m' } = volume;
        return { name: volume.name, size, ...(id !== undefined && { uuid: id }), ...(filesystem && { filesystem }) };
      }),
    };
  });
  const names = new Set<string>();
  for (const [group, at] of groups) {
    for (const { name } of at.value.logical_volumes ?? []) {
      // MAAS names the device of a volume so.
      const full = `${group}-${name}`;
      if (names.has(full)) wrong(at, `two volumes are named '${full}'`, 'Name one otherwise.', ['logical_volumes']);
      names.add(full);
    }
  }
  checkRoot(node, devices, groups, mounts.has('/'), wrong, warn);
  return { disks, groups: volumeGroups };
}

type Tell = (at: Owned<unknown>, message: string, hint: string, under?: ValuePath) => void;

const GB = 1_000_000_000;
const LEAST_ROOT = 20 * GB;
const LEAST_BOOT = GB;

/** Drydock's DD1001: the sizes of root and boot. A size that only the disk decides is taken. */
function checkRoot(
  node: string,
  devices: ReadonlyMap<string, Owned<PhysicalDevice>>,
  groups: ReadonlyMap<string, Owned<VolumeGroup>>,
  isMounted: boolean,
  wrong: Tell,
  warn: Tell,
): void {
  const [first] = devices.values();
  if (!first) return;
  const parts = [...devices.values()].flatMap((at) => (at.value.partitions ?? []).map((part) => ({ at, part })));
  const volumes = [...groups.values()].flatMap((at) => (at.value.logical_volumes ?? []).map((part) => ({ at, part })));
  const atRoot = [...parts, ...volumes].find(({ part }) => part.filesystem?.mountpoint === '/');
  const root = parts.find(({ part }) => part.name === 'root') ?? atRoot;
  if (!root) {
    wrong(
      first,
      `'${node}' has no partition or volume for the root filesystem (DD1001)`,
      'Name one root, or mount it at /.',
    );
    return;
  }
  if (!isMounted)
    warn(root.at, `no partition or volume is mounted at /`, 'Mount one: MAAS deploys no machine without it.');
  const small = (least: number, { at, part: { name, size = '' } }: typeof root): void => {
    const bytes = fixedSize(size);
    if (bytes === undefined || bytes >= least) return;
    const message = `'${name}' of '${node}' has ${size}, less than ${least / GB} GB (DD1001)`;
    wrong(at, message, `Give it ${least / GB}g or more.`);
  };
  small(LEAST_ROOT, root);
  const boot = parts.find(({ part }) => part.name === 'boot');
  if (boot) small(LEAST_BOOT, boot);
}

/** Bytes of a size that does not depend on its disk. */
const fixedSize = (size: string): number | undefined =>
  /^[%>]|%$/.test(size) || size === '' ? undefined : sizeInBytes(size, 0);

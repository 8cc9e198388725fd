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

/** The storage that documents describe for a node. */
interface DescribedStorage {
  readonly devices: ReadonlyMap<string, Owned<PhysicalDevice>>;
  readonly groups: ReadonlyMap<string, Owned<VolumeGroup>>;
}

interface StorageOfNode {
  readonly name: string;
  readonly isManaged: boolean;
  readonly device: (name: string) => DeviceReference;
  readonly report: ReportLayout;
}

/** Disks, partitions and volumes of a node, with all checks that need no machine. */
export function resolveStorage(node: StorageOfNode, described: DescribedStorage): StorageLayout {
  return new StorageResolver(node, described).resolve();
}

class StorageResolver {
  readonly #node: StorageOfNode;
  readonly #described: DescribedStorage;
  /** By mountpoint: what is mounted there. */
  readonly #mounts = new Map<string, string>();
  /** Volume groups that have a disk or partition. */
  readonly #used = new Set<string>();

  constructor(node: StorageOfNode, described: DescribedStorage) {
    this.#node = node;
    this.#described = described;
  }

  resolve(): StorageLayout {
    const { devices, groups } = this.#described;
    const disks = [...devices].map(([name, at]) => this.#disk(name, at));
    const boots = [...devices.values()].filter((_device, index) => disks[index]?.isBoot);
    for (const at of boots.slice(1))
      this.#wrong(
        at,
        'a second disk is the boot disk',
        'Mark partitions of one disk as bootable, and label one bootdrive.',
      );
    const volumeGroups = [...groups].map(([name, at]) => this.#group(name, at));
    this.#checkNamesOfVolumes();
    checkRoot(this.#node.name, this.#described, this.#mounts.has('/'), this.#wrong, this.#warn);
    return { disks, groups: volumeGroups };
  }

  readonly #wrong: Tell = (at, message, hint, under = []) =>
    this.#node.report(at, { code: 'node.bad-storage', message, hint, under });

  readonly #warn: Tell = (at, message, hint, under = []) =>
    this.#node.report(at, { severity: 'warning', code: 'node.bad-storage', message, hint, under });

  #disk(name: string, at: Owned<PhysicalDevice>): DiskLayout {
    const { labels, partitions = [], volume_group: group } = at.value;
    if (group !== undefined) this.#belongs(at, group, ['volume_group']);
    if (group !== undefined && partitions.length > 0)
      this.#wrong(at, `'${name}' has partitions and a volume group`, 'Choose one of them.', ['volume_group']);
    if (group === undefined && partitions.length === 0)
      this.#wrong(
        at,
        `'${name}' of '${this.#node.name}' has neither partitions nor a volume group`,
        'Give it one of them (DD2002).',
      );
    this.#checkSizes(at, partitions, ['partitions']);
    const hasBoot = ['true', 'yes', '1'].includes(String(labels?.bootdrive ?? '').toLowerCase());
    return {
      device: this.#node.device(name),
      ...((hasBoot || partitions.some(({ bootable }) => bootable)) && { isBoot: true }),
      ...(group !== undefined && { group }),
      partitions: partitions.map((partition) => this.#partition(at, partition)),
    };
  }

  #partition(at: Owned<unknown>, partition: Partition): DiskLayout['partitions'][number] {
    const { name, bootable, part_uuid: uuid, volume_group: group, size = '0m' } = partition;
    if (group !== undefined) this.#belongs(at, group, ['partitions']);
    const filesystem = this.#filesystem(at, partition, ['partitions']);
    if (group !== undefined && filesystem)
      this.#wrong(at, `'${name}' has a filesystem and a volume group`, 'Choose one of them.', ['partitions']);
    return {
      name,
      size,
      ...(bootable && { bootable }),
      ...(uuid !== undefined && { uuid }),
      ...(group !== undefined && { group }),
      ...(filesystem && { filesystem }),
    };
  }

  #belongs(at: Owned<unknown>, group: string, under: ValuePath): void {
    this.#used.add(group);
    if (!this.#described.groups.has(group))
      this.#warn(at, `there is no volume group '${group}'`, 'Add it under storage.volume_groups.', under);
  }

  #group(name: string, at: Owned<VolumeGroup>): VolumeGroupLayout {
    const { vg_uuid: uuid, logical_volumes: volumes = [] } = at.value;
    if (!this.#used.has(name)) {
      const hint = 'Name it as volume_group of a device under storage.physical_devices.';
      this.#wrong(at, `no disk or partition belongs to the volume group '${name}'`, hint);
    }
    this.#checkSizes(at, volumes, ['logical_volumes']);
    return {
      name,
      ...(uuid !== undefined && { uuid }),
      volumes: volumes.map((volume) => {
        const filesystem = this.#filesystem(at, volume, ['logical_volumes']);
        const { lv_uuid: id, size = '0m' } = volume;
        return { name: volume.name, size, ...(id !== undefined && { uuid: id }), ...(filesystem && { filesystem }) };
      }),
    };
  }

  #checkNamesOfVolumes(): void {
    const names = new Set<string>();
    for (const [group, at] of this.#described.groups) {
      for (const { name } of at.value.logical_volumes ?? []) {
        // MAAS names the device of a volume so.
        const full = `${group}-${name}`;
        if (names.has(full))
          this.#wrong(at, `two volumes are named '${full}'`, 'Name one otherwise.', ['logical_volumes']);
        names.add(full);
      }
    }
  }

  #filesystem(
    at: Owned<unknown>,
    { name, filesystem }: Pick<Partition, 'name' | 'filesystem'>,
    under: ValuePath,
  ): FilesystemLayout | undefined {
    if (!filesystem) return undefined;
    const { fstype = 'ext4', mountpoint, mount_options: mountOptions, fs_uuid: uuid, fs_label: label } = filesystem;
    const isSwap = fstype === 'swap';
    if (mountpoint === undefined && !isSwap) return undefined;
    if (mountpoint === 'none' && !isSwap) {
      const hint = 'Only swap can: give it a path, or none at all.';
      this.#wrong(at, `'${name}' (${fstype}) cannot be mounted at none`, hint, under);
    }
    const longest = LONGEST_LABEL[fstype];
    if (label !== undefined && label.length > longest)
      this.#wrong(at, `the label '${label}' has ${label.length} characters`, `${fstype} holds ${longest}.`, under);
    if (!isSwap && mountpoint !== undefined) {
      const other = this.#mounts.get(mountpoint);
      if (other !== undefined)
        this.#wrong(at, `'${other}' is mounted at ${mountpoint}, too`, 'Choose another mountpoint.', under);
      this.#mounts.set(mountpoint, name);
    }
    return {
      fstype,
      ...(!isSwap && mountpoint !== undefined && { mountPoint: mountpoint }),
      ...(mountOptions !== undefined && { mountOptions }),
      ...(uuid !== undefined && { uuid }),
      ...(label !== undefined && { label }),
    };
  }

  #checkSizes(
    at: Owned<unknown>,
    items: readonly { readonly name: string; readonly size?: string | undefined }[],
    under: ValuePath,
  ): void {
    for (const { name, size } of items)
      if (size === undefined) this.#wrong(at, `'${name}' has no size`, 'Give it one, such as 10g, 20% or >10g.', under);
    const percent = items.reduce(
      (sum, { size = '' }) => sum + (/^(\d+)%$/.exec(size)?.[1] ? Number.parseInt(size, 10) : 0),
      0,
    );
    const { name: node, isManaged } = this.#node;
    if (percent > 99 && (isManaged || percent > 100)) {
      const hint = 'Leave 1 %, or write >10g for the rest.';
      this.#wrong(at, `the percentages of '${node}' are ${percent} in sum (DD2003)`, hint, under);
    }
    const greedy = items.filter(({ size = '' }) => takesTheRest(size)).map(({ name }) => `'${name}'`);
    if (greedy.length > 1)
      this.#wrong(at, `${greedy.join(' and ')} take all that is left`, "Only one size may start with '>'.", under);
  }
}

type Tell = (at: Owned<unknown>, message: string, hint: string, under?: ValuePath) => void;

const GB = 1_000_000_000;
const LEAST_ROOT = 20 * GB;
const LEAST_BOOT = GB;

/** Drydock's DD1001: the sizes of root and boot. A size that only the disk decides is taken. */
function checkRoot(
  node: string,
  { devices, groups }: DescribedStorage,
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

export interface Filesystem {
  readonly fstype: string;
  readonly label: string | null;
  readonly uuid: string;
  /** Null when it is not mounted; `none` for swap. */
  readonly mountPoint: string | null;
  readonly mountOptions: string | null;
}

/** A device with a filesystem: a disk, a partition, a device made of others. */
interface Storage {
  readonly id: number;
  readonly size: number;
  readonly filesystem: Filesystem | null;
  readonly tags: readonly string[];
}

export interface Partition extends Storage {
  /** Its number on the disk. On a disk with a boot loader in the first partition they start at 2. */
  readonly index: number;
  readonly uuid: string;
  readonly bootable: boolean;
}

interface BlockDevice extends Storage {
  readonly name: string;
  readonly blockSize: number;
  /** Null: no partition table. */
  readonly partitions: readonly Partition[] | null;
}

export interface Disk extends BlockDevice {
  readonly type: 'physical';
  readonly model: string;
  readonly serial: string;
  /** As commissioning found it. */
  readonly found: { readonly name: string; readonly size: number };
}

/** A logical volume, RAID or bcache. MAAS numbers it among the disks. */
export interface VirtualDevice extends BlockDevice {
  readonly type: 'virtual';
  readonly uuid: string;
  /** The group that it is made of. */
  readonly group: number;
}

export type AnyDevice = Disk | VirtualDevice;

/** A disk or partition in a group. */
export interface Member {
  readonly kind: 'disk' | 'partition';
  readonly id: number;
}

interface Group {
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly members: readonly Member[];
}

export interface VolumeGroup extends Group {
  readonly kind: 'lvm';
}

export interface Raid extends Group {
  readonly kind: 'raid';
  readonly level: string;
  /** Of the members. */
  readonly spares: readonly Member[];
}

export interface Bcache extends Group {
  readonly kind: 'bcache';
  readonly mode: string;
  readonly cacheSet: number;
}

/** A datastore of VMware. */
interface Vmfs extends Group {
  readonly kind: 'vmfs';
}

export type StorageGroup = VolumeGroup | Raid | Bcache | Vmfs;

export interface CacheSet {
  readonly id: number;
  readonly member: Member;
}

/** How the disks of a machine are used. */
export interface StorageLayout {
  disks: readonly Disk[];
  virtual: readonly VirtualDevice[];
  groups: readonly StorageGroup[];
  cacheSets: readonly CacheSet[];
}

/** Filesystems of the user of a machine, by their device. */
export type UserFilesystems = Readonly<Record<string, Filesystem>>;

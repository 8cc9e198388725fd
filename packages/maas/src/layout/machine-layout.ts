/** The described layout of a machine, which MAAS configures before the deployment. */
export interface MachineLayout {
  /** Absent: the machine keeps the interfaces that MAAS gave it. */
  readonly ports?: readonly PortLayout[];
  /** Names of interfaces that are left alone, also those that were made for earlier documents. */
  readonly untouched?: readonly string[];
  /** Absent: the machine keeps the disks that MAAS gave it. */
  readonly storage?: StorageLayout;
  /** As on the command line of the kernel: `intel_iommu=on quiet`. Absent: none of ours. */
  readonly kernelOptions?: string;
}

/** A device of the hardware: by its name in MAAS, or by its address on a bus, as `lshw` writes it. */
export interface DeviceReference {
  /** As in the documents: a name, or the alias of a hardware profile. */
  readonly name: string;
  /** `pci@0000:00:03.0`, `scsi@2:0.0.0`. */
  readonly address?: string;
}

/** One attachment to a network link: a single device, or a bond of several. */
export interface PortLayout {
  readonly name: string;
  readonly devices: readonly DeviceReference[];
  readonly bond?: BondLayout;
  readonly mtu?: number;
  readonly networks: readonly NetworkAttachment[];
}

/** Options of a bond under MAAS' names. */
interface BondLayout {
  readonly bond_mode: string;
  readonly bond_xmit_hash_policy?: string;
  readonly bond_lacp_rate?: string;
  readonly bond_miimon?: number;
  readonly bond_updelay?: number;
  readonly bond_downdelay?: number;
}

export interface NetworkAttachment {
  readonly network: string;
  readonly cidr?: string;
  /** Its tag; absent for the untagged network of the link. */
  readonly vlan?: number;
  readonly mtu?: number;
  /** An address, or `dhcp`; absent: up without an address. */
  readonly address?: string;
  /** Its gateway is the machine's default gateway. */
  readonly isPrimary?: boolean;
}

export interface StorageLayout {
  readonly disks: readonly DiskLayout[];
  readonly groups: readonly VolumeGroupLayout[];
}

export interface DiskLayout {
  readonly device: DeviceReference;
  /** The firmware starts from it. */
  readonly isBoot?: boolean;
  /** The whole disk is a physical volume of this group. */
  readonly group?: string;
  readonly partitions: readonly PartitionLayout[];
}

interface PartitionLayout {
  readonly name: string;
  readonly size: string;
  readonly bootable?: boolean;
  readonly uuid?: string;
  readonly group?: string;
  readonly filesystem?: FilesystemLayout;
}

export interface VolumeGroupLayout {
  readonly name: string;
  readonly uuid?: string;
  readonly volumes: readonly VolumeLayout[];
}

interface VolumeLayout {
  readonly name: string;
  readonly size: string;
  readonly uuid?: string;
  readonly filesystem?: FilesystemLayout;
}

export interface FilesystemLayout {
  readonly fstype: string;
  /** Absent for swap. */
  readonly mountPoint?: string;
  readonly mountOptions?: string;
  readonly uuid?: string;
  readonly label?: string;
}

/** Sizes of partitions and volumes: `10g`, `512MiB`, `20%`, `>30g` (at least this, and what is left). */
export const SIZE_PATTERN = /^>?\d+(?:%|[mMgGtT](?:[bB]|[iI][bB]?)?)$/;

/** The value of a size. `total` is the space of the disk or group in bytes, for percentages. */
export function sizeInBytes(size: string, total: number): number {
  const [whole = size, amount = '0'] = /^>?(\d+)/.exec(size) ?? [];
  const unit = size.slice(whole.length);
  if (unit === '%') return Math.floor((total * Number(amount)) / 100);
  const base = /i/i.test(unit.slice(1)) ? 1024 : 1000;
  return Number(amount) * base ** ({ m: 2, g: 3, t: 4 }[unit.charAt(0).toLowerCase()] ?? 0);
}

/** Whether a size also takes the remaining space. */
export const takesTheRest = (size: string): boolean => size.startsWith('>');

/** MAAS takes UUIDs in capitals and without dashes, too, and answers them as they were sent. */
export function isSameUuid(one: string, other: string): boolean {
  const plain = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase();
  return plain(one) === plain(other);
}

/** Settings of a network in documents, beyond its subnet in MAAS. */
export interface NetworkSettings {
  /** Name of its document. */
  readonly network: string;
  readonly cidr: string;
  /** Of its default route. */
  readonly gateway?: string;
  /** To other networks, by their subnets. */
  readonly routes: readonly NetworkRoute[];
  readonly dnsServers: readonly string[];
  /** `dynamic`: MAAS gives addresses from it by DHCP; `reserved`: MAAS gives none of it. */
  readonly ranges: readonly { readonly type: 'dynamic' | 'reserved'; readonly start: string; readonly end: string }[];
}

export interface NetworkRoute {
  readonly destination: string;
  readonly gateway: string;
  readonly metric: number;
}

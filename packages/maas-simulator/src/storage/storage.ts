import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import { devicesOf, memberOf, partitionsOf } from './devices.ts';
import { asUsed, isInUse, userFilesystems } from './in-use.ts';
import type {
  AnyDevice,
  CacheSet,
  Disk,
  Filesystem,
  Member,
  Partition,
  StorageGroup,
  StorageLayout,
  VirtualDevice,
} from './records.ts';
import { aligned, freeForPartitions } from './sizes.ts';
import { stableUuid } from './uuids.ts';

export const bootDiskOf = (machine: Readonly<Machine>): Disk | undefined =>
  machine.disks.find(({ id }) => id === machine.bootDisk) ?? machine.disks[0];

/** In a copy of a machine's storage while a request changes it; `commit` stores it. */
export class Storage {
  readonly #region: Region;
  readonly #machine: Readonly<Machine>;
  #layout: StorageLayout;

  constructor(region: Region, machine: Readonly<Machine>) {
    this.#region = region;
    this.#machine = machine;
    const { disks, virtual, groups, cacheSets } = asUsed(machine);
    this.#layout = { disks, virtual, groups, cacheSets };
  }

  get layout(): StorageLayout {
    return this.#layout;
  }

  get devices(): AnyDevice[] {
    return devicesOf(this.#layout);
  }

  device(id: number): AnyDevice {
    return memberOf(this.#layout, { kind: 'disk', id }) as AnyDevice;
  }

  member(member: Member): AnyDevice | Partition {
    return memberOf(this.#layout, member);
  }

  freeOn(device: AnyDevice): number {
    return freeForPartitions(this.#machine, device);
  }

  put(device: AnyDevice): void {
    const replaced = <Item extends AnyDevice>(items: readonly Item[]): Item[] =>
      items.map((item) => (item.id === device.id ? (device as Item) : item));
    const { disks, virtual } = this.#layout;
    this.#layout = { ...this.#layout, disks: replaced(disks), virtual: replaced(virtual) };
  }

  filesystem(member: Member, filesystem: Filesystem | null): void {
    if (member.kind === 'disk') {
      this.put({ ...this.device(member.id), filesystem });
      return;
    }
    for (const { device } of partitionsOf(this.#layout).filter(({ partition }) => partition.id === member.id)) {
      const changed = (device.partitions ?? []).map((one) => (one.id === member.id ? { ...one, filesystem } : one));
      this.put({ ...device, partitions: changed });
    }
  }

  /** A filesystem as MAAS makes one for itself. */
  made(fstype: string, of: string | number, fields: Partial<Filesystem> = {}): Filesystem {
    const uuid = stableUuid(this.#machine.id, fstype, of, this.#region.next('filesystem'));
    return { fstype, uuid, label: null, mountPoint: null, mountOptions: null, ...fields };
  }

  addTable(device: number): void {
    const found = this.device(device);
    if (found.partitions === null) this.put({ ...found, partitions: [] });
  }

  /** @param exactly a size that is not rounded down. */
  addPartition(device: number, size: number, given: Partial<Partition> = {}, exactly?: number): Partition {
    const found = this.device(device);
    const id = this.#region.next('partition');
    const last = Math.max(0, ...(found.partitions ?? []).map(({ index }) => index));
    const hasBootLoader = found.type === 'physical' && !this.#machine.isUefi;
    const partition: Partition = {
      uuid: stableUuid(this.#machine.id, 'partition', id),
      bootable: false,
      filesystem: null,
      tags: [],
      index: last === 0 && hasBootLoader ? 2 : last + 1,
      ...given,
      id,
      size: exactly ?? aligned(size),
    };
    this.put({ ...found, partitions: [...(found.partitions ?? []), partition] });
    return partition;
  }

  /** Those after it move up; the table goes with the last one. */
  removePartition(device: number, id: number): void {
    const found = this.device(device);
    const gone = found.partitions?.find((partition) => partition.id === id);
    const left = (found.partitions ?? [])
      .filter((partition) => partition.id !== id)
      .map((one) => (gone && one.index > gone.index ? { ...one, index: one.index - 1 } : one));
    this.put({ ...found, partitions: left.length > 0 ? left : null });
    this.#removeCacheSets(({ member }) => member.kind === 'partition' && member.id === id);
  }

  addVirtual(
    fields: Pick<VirtualDevice, 'name' | 'size' | 'blockSize' | 'group'> & Partial<VirtualDevice>,
  ): VirtualDevice {
    const id = this.#region.next('disk');
    const uuid = stableUuid(this.#machine.id, 'volume', id);
    const device: VirtualDevice = {
      type: 'virtual',
      uuid,
      partitions: null,
      filesystem: null,
      tags: [],
      ...fields,
      id,
    };
    this.#layout = { ...this.#layout, virtual: [...this.#layout.virtual, device] };
    return device;
  }

  removeVirtual(id: number): void {
    this.#forget(new Set([id]));
    this.#layout = { ...this.#layout, virtual: this.#layout.virtual.filter((device) => device.id !== id) };
  }

  /** Devices that go, with their partitions, are members of no group any more. */
  #forget(ids: ReadonlySet<number>): void {
    const parts = new Set(
      this.devices.filter(({ id }) => ids.has(id)).flatMap(({ partitions }) => (partitions ?? []).map(({ id }) => id)),
    );
    const isGone = ({ kind, id }: Member): boolean => (kind === 'disk' ? ids : parts).has(id);
    const groups = this.#layout.groups.map((group) => ({
      ...group,
      members: group.members.filter((member) => !isGone(member)),
      ...(group.kind === 'raid' ? { spares: group.spares.filter((member) => !isGone(member)) } : {}),
    }));
    this.#layout = { ...this.#layout, groups };
    this.#removeCacheSets(({ member }) => isGone(member));
  }

  removeDisk(id: number): void {
    this.#forget(new Set([id]));
    this.#layout = { ...this.#layout, disks: this.#layout.disks.filter((disk) => disk.id !== id) };
  }

  /** A number of the sequence that all groups share. */
  nextGroup(): number {
    return this.#region.next('group');
  }

  addGroup(group: StorageGroup): void {
    this.#layout = { ...this.#layout, groups: [...this.#layout.groups, group] };
  }

  putGroup(group: StorageGroup): void {
    this.#layout = { ...this.#layout, groups: this.#layout.groups.map((one) => (one.id === group.id ? group : one)) };
  }

  /** A group goes with its devices; its members are free. */
  removeGroup({ id, members }: StorageGroup): void {
    for (const member of members) this.filesystem(member, null);
    this.#forget(new Set(this.#layout.virtual.filter(({ group }) => group === id).map((device) => device.id)));
    const { groups, virtual } = this.#layout;
    this.#layout = {
      ...this.#layout,
      groups: groups.filter((group) => group.id !== id),
      virtual: virtual.filter(({ group }) => group !== id),
    };
  }

  addCacheSet(member: Member): CacheSet {
    const set = { id: this.#region.next('cacheSet'), member };
    this.#layout = { ...this.#layout, cacheSets: [...this.#layout.cacheSets, set] };
    this.filesystem(member, this.made('bcache-cache', set.id));
    return set;
  }

  moveCacheSet(set: CacheSet, member: Member): CacheSet {
    const moved = { ...set, member };
    this.filesystem(set.member, null);
    this.filesystem(member, this.made('bcache-cache', set.id));
    this.#layout = {
      ...this.#layout,
      cacheSets: this.#layout.cacheSets.map((one) => (one.id === set.id ? moved : one)),
    };
    return moved;
  }

  /** Bcaches stay when their cache set goes with its device. */
  #removeCacheSets(test: (set: CacheSet) => boolean): void {
    const cacheSets = this.#layout.cacheSets.filter((set) => !test(set));
    this.#layout = { ...this.#layout, cacheSets };
  }

  removeCacheSet(set: CacheSet): void {
    this.filesystem(set.member, null);
    this.#removeCacheSets(({ id }) => id === set.id);
  }

  /** Empties all disks. */
  clear(): void {
    const disks = this.#layout.disks.map((disk) => ({ ...disk, filesystem: null, partitions: null }));
    this.#layout = { disks, virtual: [], groups: [], cacheSets: [] };
  }

  /** Of a machine in use only filesystems can have changed: those of its user. */
  commit(): Readonly<Machine> {
    const row = this.#region.editMachine(this.#machine);
    if (isInUse(row)) row.userFilesystems = userFilesystems(this.#layout);
    else Object.assign(row, this.#layout);
    return asUsed(row);
  }
}

import { badRequest, invalidForm, refuse } from '../answer.ts';
import { Form } from '../form.ts';
import { FormErrors } from '../form-errors.ts';
import { bytesField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import { addBcache } from './bcaches.ts';
import { freeName } from './raids.ts';
import type { AnyDevice, Disk, Member } from './records.ts';
import { ALIGNMENT, aligned, groupSize } from './sizes.ts';
import { bootDiskOf, Storage } from './storage.ts';
import { stableUuid } from './uuids.ts';
import { addVolumeGroup } from './volume-groups.ts';

/** The layouts of `op=set_storage_layout`, in MAAS' order. */
export const storageLayouts = ['blank', 'vmfs7', 'lvm', 'flat', 'bcache', 'custom', 'vmfs6'] as const;

const MIB = 2 ** 20;
const EFI_SIZE = 512 * MIB;
const MIN_BOOT = 512 * MIB;
const MIN_ROOT = 3 * 1024 * MIB;

interface Options {
  readonly bootSize: number;
  /** Null: the rest of the disk. */
  readonly rootSize: number | null;
  readonly rootDisk: Disk;
  readonly vgName: string;
  readonly lvName: string;
  /** Null: the whole group. */
  readonly lvSize: number | null;
  readonly cacheMode: string;
  readonly cacheSize: number | null;
  readonly cacheIsWhole: boolean;
}

/** Bytes, or a percentage of `whole`. */
function sizeField(form: Form, errors: FormErrors, field: string, whole: number): number | null {
  const share = /^(\d+(?:\.\d+)?)%$/.exec(form.text(field) ?? '')?.[1];
  return share === undefined ? bytesField(form, errors, field) : Math.floor((whole * Number(share)) / 100);
}

function checkSize(errors: FormErrors, field: string, size: number | null, min: number, max: number): void {
  if (size === null) return;
  if (size < min) errors.add(field, `Size is too small. Minimum size is ${min}.`);
  else if (size > max) errors.add(field, `Size is too large. Maximum size is ${max}.`);
}

function diskField(form: Form, errors: FormErrors, field: string, disks: readonly Disk[]): Disk | null {
  const wanted = form.text(field);
  const disk = disks.find(({ id }) => String(id) === wanted) ?? null;
  if (wanted !== null && !disk) {
    const known = disks.map(({ id }) => `'${id}'`).join(', ');
    errors.add(field, `'${wanted}' is not a valid ${field}.  It should be one of: ${known}.`);
  }
  return disk;
}

const cacheModes = ['writeback', 'writethrough', 'writearound'];

function readOptions(machine: Readonly<Machine>, boot: Disk, name: string, form: Form): Options {
  const errors = new FormErrors();
  const whole = boot.size - EFI_SIZE;
  const bootSize = sizeField(form, errors, 'boot_size', whole);
  checkSize(errors, 'boot_size', bootSize, MIN_BOOT, whole - MIN_ROOT);
  const rootSize = sizeField(form, errors, 'root_size', whole);
  checkSize(errors, 'root_size', rootSize, MIN_ROOT, whole - MIN_BOOT);
  const rootDisk = diskField(form, errors, 'root_device', machine.disks) ?? boot;
  if (rootSize !== null && !errors.has('boot_size', 'root_size') && EFI_SIZE + (bootSize ?? 0) + rootSize > boot.size) {
    errors.add(
      '__all__',
      'Size of the boot partition and root partition are larger than the available space on the boot disk.',
    );
  }
  const forRoot = rootSize ?? whole - (bootSize ?? 0);
  const lvSize = name === 'lvm' ? sizeField(form, errors, 'lv_size', forRoot) : null;
  if (lvSize !== null) checkSize(errors, 'lv_size', lvSize, MIN_ROOT, forRoot);
  const cacheMode = form.text('cache_mode') ?? 'writethrough';
  if (name === 'bcache' && !cacheModes.includes(cacheMode)) {
    errors.add('cache_mode', `Select a valid choice. ${cacheMode} is not one of the available choices.`);
  }
  const others = machine.disks.filter((disk) => disk !== boot);
  const cacheSize = name === 'bcache' ? sizeField(form, errors, 'cache_size', others[0]?.size ?? 0) : null;
  if (name === 'bcache') diskField(form, errors, 'cache_device', others);
  if (cacheSize !== null) checkSize(errors, 'cache_size', cacheSize, ALIGNMENT, others[0]?.size ?? 0);
  checkVmfs(errors, name, boot);
  errors.refuse();
  const names = { vgName: form.text('vg_name') ?? 'vgroot', lvName: form.text('lv_name') ?? 'lvroot' };
  const cache = { cacheMode, cacheSize, cacheIsWhole: form.flag('cache_no_part') };
  return { bootSize: bootSize ?? 0, rootSize, rootDisk, lvSize, ...names, ...cache };
}

function checkVmfs(errors: FormErrors, name: string, boot: Disk): void {
  if (name === 'vmfs6' && boot.size < 10 * 1024 * MIB) errors.add('boot_size', 'Boot disk must be at least 10Gb.');
  if (name === 'vmfs7' && boot.size < 32 * 1024 * MIB) errors.add('boot_size', 'Boot disk must be at least 32Gb.');
}

/** Partitions to boot from, and one for the root. */
function addBasics(
  machine: Readonly<Machine>,
  storage: Storage,
  boot: Disk,
  options: Options,
  bootSize: number,
): Member {
  storage.addTable(boot.id);
  const bootable = (size: number, fstype: string, label: string, mountPoint: string): void => {
    const { id } = storage.addPartition(boot.id, size, { bootable: true });
    storage.filesystem({ kind: 'partition', id }, storage.made(fstype, id, { label, mountPoint }));
  };
  if (machine.isUefi) bootable(EFI_SIZE, 'fat32', 'efi', '/boot/efi');
  if (bootSize > 0) bootable(bootSize, 'ext4', 'boot', '/boot');
  const root = options.rootDisk.id;
  storage.addTable(root);
  const size = options.rootSize ?? storage.freeOn(storage.device(root));
  return { kind: 'partition', id: storage.addPartition(root, size).id };
}

const addRoot = (storage: Storage, member: Member): void =>
  storage.filesystem(member, storage.made('ext4', member.id, { label: 'root', mountPoint: '/' }));

function layOutLvm(machine: Readonly<Machine>, storage: Storage, root: Member, options: Options): void {
  const group = addVolumeGroup(machine, storage, { name: options.vgName, members: [root] });
  const size = aligned(options.lvSize ?? groupSize([storage.member(root)]));
  const { id } = storage.addVirtual({ name: options.lvName, size, blockSize: 4096, group: group.id });
  addRoot(storage, { kind: 'disk', id });
}

/** MAAS caches on the smallest other disk that is an SSD, whatever disk the form names. */
const cacheDiskOf = (machine: Readonly<Machine>, boot: Disk): AnyDevice | undefined =>
  machine.disks.filter((disk) => disk.id !== boot.id && disk.tags.includes('ssd')).sort((a, b) => a.size - b.size)[0];

function layOutBcache(machine: Readonly<Machine>, storage: Storage, boot: Disk, options: Options): void {
  const cache = cacheDiskOf(machine, boot);
  if (!cache) {
    const why = "Node doesn't have an available cache device to setup bcache.";
    refuse(badRequest(`Failed to configure storage layout 'bcache': ${why}`));
  }
  const backing = addBasics(machine, storage, boot, options, options.bootSize || 1024 * MIB);
  const whole: Member = { kind: 'disk', id: cache.id };
  const size = (): number => options.cacheSize ?? storage.freeOn(storage.device(cache.id));
  const member: Member = options.cacheIsWhole
    ? whole
    : { kind: 'partition', id: storage.addPartition(cache.id, size()).id };
  const set = storage.addCacheSet(member);
  const name = freeName('bcache', { ...machine, ...storage.layout });
  const bcache = addBcache(machine, storage, { name, mode: options.cacheMode, cacheSet: set.id, backing });
  const device = storage.layout.virtual.find(({ group }) => group === bcache.id);
  if (device) addRoot(storage, { kind: 'disk', id: device.id });
}

/** VMware's partitions with their numbers; one of size 0 takes the remaining space. */
const vmfsPartitions = {
  vmfs6: { 1: 3 * MIB, 2: 4096 * MIB, 3: 0, 5: 249 * MIB, 6: 249 * MIB, 7: 109 * MIB, 8: 285 * MIB, 9: 2560 * MIB },
  vmfs7: { 1: 100 * MIB, 5: 4095 * MIB, 6: 4095 * MIB, 7: 25_662_832_128, 8: 0 },
} as const;

function layOutVmfs(machine: Readonly<Machine>, storage: Storage, options: Options, name: 'vmfs6' | 'vmfs7'): void {
  const disk = options.rootDisk.id;
  storage.addTable(disk);
  const sizes = Object.entries(vmfsPartitions[name]);
  for (const [index, size] of sizes) {
    storage.addPartition(disk, size, { index: Number(index), bootable: index === '1' }, size);
  }
  const rest = storage.device(disk).partitions?.find(({ size }) => size === 0);
  if (!rest) return;
  const size = options.rootSize ?? storage.freeOn(storage.device(disk));
  const device = storage.device(disk);
  storage.put({
    ...device,
    partitions: (device.partitions ?? []).map((one) => (one === rest ? { ...one, size } : one)),
  });
  const id = storage.nextGroup();
  const members: Member[] = [{ kind: 'partition', id: rest.id }];
  storage.addGroup({ kind: 'vmfs', id, name: 'datastore1', uuid: stableUuid(machine.id, 'vmfs', id), members });
  storage.filesystem(members[0] as Member, storage.made('vmfs6', id));
  const store = storage.addVirtual({ name: 'datastore1', size, blockSize: 1024, group: id });
  const mountPoint = '/vmfs/volumes/datastore1';
  storage.filesystem({ kind: 'disk', id: store.id }, storage.made('vmfs6', store.id, { mountPoint }));
}

/** Replaces all partitions and groups by those of a layout. */
export function setLayout(region: Region, machine: Readonly<Machine>, name: string, form = new Form()): void {
  const storage = new Storage(region, machine);
  const boot = bootDiskOf(machine);
  if (!boot) return;
  const options = readOptions(machine, boot, name, form);
  storage.clear();
  if (name === 'custom') {
    refuse(badRequest("Failed to configure storage layout 'custom': No custom storage layout configuration found"));
  }
  if (name === 'flat') addRoot(storage, addBasics(machine, storage, boot, options, options.bootSize));
  if (name === 'lvm')
    layOutLvm(machine, storage, addBasics(machine, storage, boot, options, options.bootSize), options);
  if (name === 'bcache') layOutBcache(machine, storage, boot, options);
  if (name === 'vmfs6' || name === 'vmfs7') layOutVmfs(machine, storage, options, name);
  storage.commit();
}

/** The refusal of a layout for a machine without disks. */
export function refuseWithoutDisks(machine: Readonly<Machine>, name: string): void {
  if (machine.disks.length > 0) return;
  const reason = "Node doesn't have any storage devices to configure.";
  refuse(invalidForm({ __all__: [`Failed to configure storage layout '${name}': ${reason}`] }));
}

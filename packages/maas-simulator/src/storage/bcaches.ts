import { badRequest, deleted, json, notFound, refuse } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import type { Form } from '../form.ts';
import { FormErrors, REQUIRED } from '../form-errors.ts';
import { textField, uuidField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { cacheName, inGroup } from './devices.ts';
import { refuseDeviceName } from './disks.ts';
import { named, nothingThere, readyMachineOf, shownMachineOf } from './machine-of.ts';
import { freeDevices, freePartitions, membersField, offersOf, withoutBootDisk } from './members.ts';
import { freeName } from './raids.ts';
import type { AnyDevice, Bcache, CacheSet, Member } from './records.ts';
import { Storage } from './storage.ts';
import { stableUuid } from './uuids.ts';
import { viewBcache, viewCacheSet, volumesOf } from './view.ts';

/** One choice of a field; the last that the form gives. */
function oneMember(
  form: Form,
  errors: FormErrors,
  field: string,
  offers: Parameters<typeof membersField>[3],
): Member | null {
  return membersField(form, errors, field, offers).at(-1) ?? null;
}

// Cache sets.

const setOfPath = (call: Call, machine: Readonly<Machine>): CacheSet =>
  named(machine.cacheSets, call.parts[1], (set) => cacheName(machine, set)) ?? refuse(nothingThere());

export const listCacheSets: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(machine.cacheSets.map((set) => viewCacheSet(machine, set)));
};

export const readCacheSet: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(viewCacheSet(machine, setOfPath(call, machine)));
};

export const createCacheSet: Handler = (call) => {
  const machine = readyMachineOf(call, 'create cache set', 'node');
  const { form, region } = call;
  const errors = new FormErrors();
  const device = oneMember(form, errors, 'cache_device', freeDevices(machine));
  const partition = oneMember(form, errors, 'cache_partition', freePartitions(machine));
  if (device && partition) errors.add('__all__', 'Cannot set both cache_device and cache_partition.');
  const isPartitionAlone = errors.has('cache_partition') && device !== null;
  if (!device && !partition && !isPartitionAlone) {
    errors.add('__all__', 'Either cache_device or cache_partition must be specified.');
  }
  errors.refuse();
  const storage = new Storage(region, machine);
  const [member] = withoutBootDisk(machine, storage, [device ?? partition ?? { kind: 'disk', id: 0 }]);
  const set = storage.addCacheSet(member as Member);
  return json(viewCacheSet(storage.commit(), set));
};

const usersOf = ({ groups }: Readonly<Machine>, { id }: CacheSet): boolean =>
  groups.some((group) => group.kind === 'bcache' && group.cacheSet === id);

function setFor(call: Call, doing: string): { machine: Readonly<Machine>; set: CacheSet } {
  const set = setOfPath(call, shownMachineOf(call));
  return { machine: readyMachineOf(call, doing), set };
}

export const updateCacheSet: Handler = (call) => {
  const { machine, set } = setFor(call, 'update cache set');
  const { form, region } = call;
  const errors = new FormErrors();
  const own = (kind: Member['kind']): ReturnType<typeof offersOf> => offersOf(machine, [set.member], kind);
  const device = oneMember(form, errors, 'cache_device', [...freeDevices(machine), ...own('disk')]);
  const partition = oneMember(form, errors, 'cache_partition', [...freePartitions(machine), ...own('partition')]);
  if (device && partition) {
    for (const field of ['cache_device', 'cache_partition']) {
      errors.add(field, 'Cannot set both cache_device and cache_partition.');
    }
  }
  errors.refuse();
  const storage = new Storage(region, machine);
  const wanted = device ?? partition;
  const changed =
    wanted && !inGroup([set.member], wanted)
      ? storage.moveCacheSet(set, withoutBootDisk(machine, storage, [wanted])[0] as Member)
      : set;
  return json(viewCacheSet(storage.commit(), changed));
};

export const deleteCacheSet: Handler = (call) => {
  const { machine, set } = setFor(call, 'delete cache set');
  if (usersOf(machine, set)) refuse(badRequest("Cannot delete cache set; it's currently in use."));
  const storage = new Storage(call.region, machine);
  storage.removeCacheSet(set);
  storage.commit();
  return deleted();
};

// Bcaches.

const modes = ['writeback', 'writethrough', 'writearound'];

const bcachesOf = ({ groups }: Readonly<Machine>): Bcache[] =>
  groups.filter(({ kind }) => kind === 'bcache') as Bcache[];

const bcacheOfPath = (call: Call, machine: Readonly<Machine>): Bcache =>
  named(bcachesOf(machine), call.parts[1], ({ name }) => name) ?? refuse(notFound('Bcache'));

export const listBcaches: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(bcachesOf(machine).map((bcache) => viewBcache(machine, bcache)));
};

export const readBcache: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(viewBcache(machine, bcacheOfPath(call, machine)));
};

const notOffered = (value: string): string => `Select a valid choice. ${value} is not one of the available choices.`;

function modeField(form: Form, errors: FormErrors, isRequired: boolean): string | null {
  const mode = form.text('cache_mode');
  if (mode === null && isRequired) errors.add('cache_mode', REQUIRED);
  if (mode === null || modes.includes(mode)) return mode;
  errors.add('cache_mode', notOffered(mode));
  return null;
}

function setField(
  { form }: Call,
  machine: Readonly<Machine>,
  errors: FormErrors,
  isRequired: boolean,
): CacheSet | null {
  const wanted = form.text('cache_set');
  if (wanted === null) {
    if (isRequired) errors.add('cache_set', REQUIRED);
    return null;
  }
  const set = named(machine.cacheSets, wanted, (one) => cacheName(machine, one)) ?? null;
  if (!set) errors.add('cache_set', notOffered(wanted));
  return set;
}

export function addBcache(
  machine: Readonly<Machine>,
  storage: Storage,
  fields: Pick<Bcache, 'name' | 'mode' | 'cacheSet'> & { readonly uuid?: string | null; readonly backing: Member },
): Bcache {
  const { backing, uuid, ...rest } = fields;
  const id = storage.nextGroup();
  const bcache: Bcache = {
    ...rest,
    kind: 'bcache',
    id,
    uuid: uuid ?? stableUuid(machine.id, 'bcache', id),
    members: [backing],
  };
  storage.addGroup(bcache);
  storage.filesystem(backing, storage.made('bcache-backing', id));
  const { size } = storage.member(backing);
  storage.addVirtual({ name: rest.name, size, blockSize: blockSizeOf(storage, backing), group: id });
  return bcache;
}

/** A bcache has the block size of its backing device. */
function blockSizeOf(storage: Storage, member: Member): number {
  const isOn = ({ id, partitions }: AnyDevice): boolean =>
    member.kind === 'disk' ? id === member.id : (partitions ?? []).some((partition) => partition.id === member.id);
  return storage.devices.find(isOn)?.blockSize ?? 512;
}

export const createBcache: Handler = (call) => {
  const machine = readyMachineOf(call, 'create Bcache');
  const { form, region } = call;
  const errors = new FormErrors();
  const name = textField(form, errors, 'name', 255) ?? freeName('bcache', machine);
  const uuid = uuidField(form, errors);
  const device = oneMember(form, errors, 'backing_device', freeDevices(machine));
  const partition = oneMember(form, errors, 'backing_partition', freePartitions(machine));
  const set = setField(call, machine, errors, true);
  const mode = modeField(form, errors, true);
  if (!set) errors.add('__all__', 'Bcache requires a cache_set.');
  else if (device && partition) errors.add('__all__', 'A Bcache can have either a backing device or partition.');
  else if (!device && !partition) {
    errors.add('__all__', 'Either backing_device or backing_partition must be specified.');
  }
  errors.refuse();
  refuseDeviceName(machine, name);
  const storage = new Storage(region, machine);
  const [backing] = withoutBootDisk(machine, storage, [device ?? partition ?? { kind: 'disk', id: 0 }]);
  const fields = { name, uuid, mode: mode ?? '', cacheSet: set?.id ?? 0, backing: backing as Member };
  const bcache = addBcache(machine, storage, fields);
  return json(viewBcache(storage.commit(), bcache));
};

function bcacheFor(call: Call, doing: string): { machine: Readonly<Machine>; bcache: Bcache } {
  const bcache = bcacheOfPath(call, shownMachineOf(call));
  return { machine: readyMachineOf(call, doing), bcache };
}

export const updateBcache: Handler = (call) => {
  const { machine, bcache } = bcacheFor(call, 'update Bcache');
  const { form, region } = call;
  const errors = new FormErrors();
  const [own] = volumesOf(machine, bcache);
  const name = textField(form, errors, 'name', 255) ?? bcache.name;
  const uuid = uuidField(form, errors) ?? bcache.uuid;
  const its = (kind: Member['kind']): ReturnType<typeof offersOf> => offersOf(machine, bcache.members, kind);
  const devices = freeDevices(machine).filter(([{ id }]) => id !== own?.id);
  const device = oneMember(form, errors, 'backing_device', [...devices, ...its('disk')]);
  const partition = oneMember(form, errors, 'backing_partition', [...freePartitions(machine), ...its('partition')]);
  const set = setField(call, machine, errors, false);
  const mode = modeField(form, errors, false) ?? bcache.mode;
  errors.refuse();
  if (own) refuseDeviceName(machine, name, own.id);
  const storage = new Storage(region, machine);
  const wanted = device ?? partition;
  const members =
    wanted && !inGroup(bcache.members, wanted) ? withoutBootDisk(machine, storage, [wanted]) : bcache.members;
  const [backing] = members;
  if (members !== bcache.members && backing) {
    for (const member of bcache.members) storage.filesystem(member, null);
    storage.filesystem(backing, storage.made('bcache-backing', bcache.id));
  }
  const changed: Bcache = { ...bcache, name, uuid, mode, members, cacheSet: set?.id ?? bcache.cacheSet };
  storage.putGroup(changed);
  if (own && backing) storage.put({ ...own, name, size: storage.member(backing).size });
  return json(viewBcache(storage.commit(), changed));
};

export const deleteBcache: Handler = (call) => {
  const { machine, bcache } = bcacheFor(call, 'delete Bcache');
  const storage = new Storage(call.region, machine);
  storage.removeGroup(bcache);
  storage.commit();
  return deleted();
};

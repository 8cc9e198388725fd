import { deleted, invalidRequest, json, notFound, refuse } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { FormErrors, REQUIRED } from '../form-errors.ts';
import { textField, uuidField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { inGroup } from './devices.ts';
import { refuseDeviceName } from './disks.ts';
import { named, readyMachineOf, shownMachineOf } from './machine-of.ts';
import { freeDevices, freePartitions, membersField, offersOf, partitionOver } from './members.ts';
import type { Member, Raid } from './records.ts';
import { raidSize } from './sizes.ts';
import { bootDiskOf, Storage } from './storage.ts';
import { stableUuid } from './uuids.ts';
import { viewRaid, volumesOf } from './view.ts';

/** Of each level: how many active members it needs. */
const least: Readonly<Record<string, number>> = { 'raid-0': 2, 'raid-1': 2, 'raid-5': 3, 'raid-6': 4, 'raid-10': 3 };

const raidsOf = ({ groups }: Readonly<Machine>): Raid[] => groups.filter(({ kind }) => kind === 'raid') as Raid[];

const raidOfPath = (call: Call, machine: Readonly<Machine>): Raid =>
  named(raidsOf(machine), call.parts[1], ({ name }) => name) ?? refuse(notFound('RAID'));

export const listRaids: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(raidsOf(machine).map((raid) => viewRaid(machine, raid)));
};

export const readRaid: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(viewRaid(machine, raidOfPath(call, machine)));
};

function checkCounts(level: string, active: number, spares: number): void {
  const needed = least[level] ?? 0;
  if (active >= needed && (level !== 'raid-0' || spares === 0)) return;
  const and = level === 'raid-0' ? 'no spares' : 'any number of spares';
  const text = `RAID level ${level.slice(5)} must have at least ${needed} raid devices and ${and}.`;
  refuse(invalidRequest({ __all__: [text] }));
}

/** The first free name with a prefix and a number. */
export function freeName(prefix: string, machine: Readonly<Machine>): string {
  const taken = machine.groups.flatMap(({ name }) =>
    /^\D+\d+$/.test(name) && name.startsWith(prefix) ? Number(name.slice(prefix.length)) : [],
  );
  return `${prefix}${Math.max(-1, ...taken) + 1}`;
}

function join(storage: Storage, raid: Raid): void {
  for (const member of raid.members) {
    const fstype = inGroup(raid.spares, member) ? 'raid-spare' : 'raid';
    if (storage.member(member).filesystem === null) storage.filesystem(member, storage.made(fstype, raid.id));
  }
}

function sizeIn(storage: Storage, raid: Raid): number {
  const active = raid.members.filter((member) => !inGroup(raid.spares, member));
  const sizes = (members: readonly Member[]): { size: number }[] => members.map((member) => storage.member(member));
  return raidSize(raid.level, sizes(active), sizes(raid.spares));
}

export const createRaid: Handler = (call) => {
  const machine = readyMachineOf(call, 'create RAID');
  const { form, region } = call;
  const errors = new FormErrors();
  const level = form.text('level') ?? '';
  if (level === '') errors.add('level', REQUIRED);
  else if (!(level in least))
    errors.add('level', `Select a valid choice. ${level} is not one of the available choices.`);
  const name = textField(form, errors, 'name', 255) ?? freeName('md', machine);
  const uuid = uuidField(form, errors);
  const [disks, partitions] = [freeDevices(machine), freePartitions(machine)];
  const active = [
    ...membersField(form, errors, 'block_devices', disks),
    ...membersField(form, errors, 'partitions', partitions),
  ];
  const spares = [
    ...membersField(form, errors, 'spare_devices', disks),
    ...membersField(form, errors, 'spare_partitions', partitions),
  ];
  if (active.length === 0 && !errors.has('block_devices', 'partitions')) {
    errors.add('__all__', 'At least one block device or partition must be added to the array.');
  }
  errors.refuse();
  checkCounts(level, active.length, spares.length);
  const storage = new Storage(region, machine);
  // A RAID to boot from is made of partitions on all its disks.
  const boots = inGroup([...active, ...spares], { kind: 'disk', id: bootDiskOf(machine)?.id ?? 0 });
  const place = (member: Member): Member => (boots && member.kind === 'disk' ? partitionOver(storage, member) : member);
  const id = storage.nextGroup();
  const placed = { active: active.map(place), spares: spares.map(place) };
  const raid: Raid = {
    kind: 'raid',
    id,
    name,
    level,
    uuid: uuid ?? stableUuid(machine.id, 'raid', id),
    members: [...placed.active, ...placed.spares],
    spares: placed.spares,
  };
  refuseDeviceName(machine, name);
  storage.addGroup(raid);
  join(storage, raid);
  storage.addVirtual({ name, size: sizeIn(storage, raid), blockSize: 512, group: id });
  return json(viewRaid(storage.commit(), raid));
};

function raidFor(call: Call, doing: string): { machine: Readonly<Machine>; raid: Raid } {
  const raid = raidOfPath(call, shownMachineOf(call));
  return { machine: readyMachineOf(call, doing), raid };
}

export const updateRaid: Handler = (call) => {
  const { machine, raid } = raidFor(call, 'update RAID');
  const { form, region } = call;
  const errors = new FormErrors();
  const name = textField(form, errors, 'name', 255) ?? raid.name;
  const uuid = uuidField(form, errors) ?? raid.uuid;
  const [disks, partitions] = [freeDevices(machine), freePartitions(machine)];
  const field = (word: string, offers: Parameters<typeof membersField>[3]): Member[] =>
    membersField(form, errors, word, offers);
  const added = [...field('add_block_devices', disks), ...field('add_partitions', partitions)];
  const spares = [...field('add_spare_devices', disks), ...field('add_spare_partitions', partitions)];
  const removed = (['block_devices', 'spare_devices', 'partitions', 'spare_partitions'] as const).flatMap((word) =>
    field(`remove_${word}`, offersOf(machine, raid.members, word.endsWith('devices') ? 'disk' : 'partition')),
  );
  errors.refuse();
  const storage = new Storage(region, machine);
  const place = (member: Member): Member =>
    member.kind === 'disk' && member.id === bootDiskOf(machine)?.id ? partitionOver(storage, member) : member;
  const kept = (members: readonly Member[]): Member[] => members.filter((member) => !inGroup(removed, member));
  const [newActive, newSpares] = [added.map(place), spares.map(place)];
  const changed: Raid = {
    ...raid,
    name,
    uuid,
    members: [...kept(raid.members), ...newActive, ...newSpares],
    spares: [...kept(raid.spares), ...newSpares],
  };
  checkCounts(raid.level, changed.members.length - changed.spares.length, changed.spares.length);
  for (const member of removed) storage.filesystem(member, null);
  const [device] = volumesOf(machine, raid);
  if (device) refuseDeviceName(machine, name, device.id);
  storage.putGroup(changed);
  join(storage, changed);
  if (device) storage.put({ ...device, name, size: sizeIn(storage, changed) });
  return json(viewRaid(storage.commit(), changed));
};

export const deleteRaid: Handler = (call) => {
  const { machine, raid } = raidFor(call, 'delete RAID');
  const storage = new Storage(call.region, machine);
  storage.removeGroup(raid);
  storage.commit();
  return deleted();
};

import { badRequest, deleted, invalidRequest, json, notFound, refuse } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { FormErrors, refuseField } from '../form-errors.ts';
import { bytesField, requiredText, textField, uuidField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { inGroup } from './devices.ts';
import { refuseDeviceName, refuseMember } from './disks.ts';
import { named, readyMachineOf, shownMachineOf } from './machine-of.ts';
import { freeDevices, freePartitions, membersField, offersOf, withoutBootDisk } from './members.ts';
import type { Member, VolumeGroup } from './records.ts';
import { ALIGNMENT, aligned } from './sizes.ts';
import { Storage } from './storage.ts';
import { stableUuid } from './uuids.ts';
import { freeOfGroup, viewDevice, viewVolumeGroup, volumesOf } from './view.ts';

const groupsOf = ({ groups }: Readonly<Machine>): VolumeGroup[] =>
  groups.filter(({ kind }) => kind === 'lvm') as VolumeGroup[];

const groupOfPath = (call: Call, machine: Readonly<Machine>): VolumeGroup =>
  named(groupsOf(machine), call.parts[1], ({ name }) => name) ?? refuse(notFound('VolumeGroup'));

/** The group of the path, of a machine that is Ready. */
function groupFor(call: Call, doing: string): { machine: Readonly<Machine>; group: VolumeGroup } {
  const seen = shownMachineOf(call);
  const group = groupOfPath(call, seen);
  return { machine: readyMachineOf(call, doing), group };
}

export const listGroups: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(groupsOf(machine).map((group) => viewVolumeGroup(machine, group)));
};

export const readGroup: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(viewVolumeGroup(machine, groupOfPath(call, machine)));
};

/** Makes physical volumes of the members. */
function join(storage: Storage, group: VolumeGroup): void {
  for (const member of group.members) {
    if (storage.member(member).filesystem === null) storage.filesystem(member, storage.made('lvm-pv', group.id));
  }
}

export function addVolumeGroup(
  machine: Readonly<Machine>,
  storage: Storage,
  fields: { readonly name: string; readonly uuid?: string | null; readonly members: readonly Member[] },
): VolumeGroup {
  const id = storage.nextGroup();
  const uuid = fields.uuid ?? stableUuid(machine.id, 'group', id);
  const group: VolumeGroup = { kind: 'lvm', id, uuid, name: fields.name, members: fields.members };
  storage.addGroup(group);
  join(storage, group);
  return group;
}

export const createGroup: Handler = (call) => {
  const machine = readyMachineOf(call, 'create volume group');
  const { form, region } = call;
  const errors = new FormErrors();
  const name = requiredText(form, errors, 'name');
  const uuid = uuidField(form, errors);
  const disks = membersField(form, errors, 'block_devices', freeDevices(machine));
  const partitions = membersField(form, errors, 'partitions', freePartitions(machine));
  if (disks.length + partitions.length === 0 && !errors.has('name', 'block_devices', 'partitions')) {
    errors.add('__all__', 'At least one valid block device or partition is required.');
  }
  errors.refuse();
  const storage = new Storage(region, machine);
  const members = withoutBootDisk(machine, storage, [...disks, ...partitions]);
  const group = addVolumeGroup(machine, storage, { name, uuid, members });
  return json(viewVolumeGroup(storage.commit(), group));
};

export const updateGroup: Handler = (call) => {
  const { machine, group } = groupFor(call, 'update volume group');
  const { form, region } = call;
  const errors = new FormErrors();
  const name = textField(form, errors, 'name', 255) ?? group.name;
  const uuid = uuidField(form, errors) ?? group.uuid;
  const field = (word: string, offers: Parameters<typeof membersField>[3]): Member[] =>
    membersField(form, errors, word, offers);
  const added = [
    ...field('add_block_devices', freeDevices(machine)),
    ...field('add_partitions', freePartitions(machine)),
  ];
  const removed = [
    ...field('remove_block_devices', offersOf(machine, group.members, 'disk')),
    ...field('remove_partitions', offersOf(machine, group.members, 'partition')),
  ];
  errors.refuse();
  const storage = new Storage(region, machine);
  const members = [
    ...group.members.filter((member) => !inGroup(removed, member)),
    ...withoutBootDisk(machine, storage, added),
  ];
  for (const member of removed) storage.filesystem(member, null);
  const changed = { ...group, name, uuid, members };
  storage.putGroup(changed);
  join(storage, changed);
  const after = { ...machine, ...storage.layout };
  if (members.length === 0) refuse(invalidRequest({ __all__: ['At least one filesystem must have been added.'] }));
  if (freeOfGroup(after, changed) < 0) refuse(badRequest('Volume group cannot be smaller than its logical volumes.'));
  return json(viewVolumeGroup(storage.commit(), changed));
};

export const deleteGroup: Handler = (call) => {
  const { machine, group } = groupFor(call, 'delete volume group');
  if (volumesOf(machine, group).length > 0) {
    refuse(badRequest('This volume group has logical volumes; it cannot be deleted.'));
  }
  const storage = new Storage(call.region, machine);
  storage.removeGroup(group);
  storage.commit();
  return deleted();
};

export const createVolume: Handler = (call) => {
  const { machine, group } = groupFor(call, 'create logical volume');
  const { form, region } = call;
  const errors = new FormErrors();
  const free = freeOfGroup(machine, group);
  const name = requiredText(form, errors, 'name');
  const uuid = uuidField(form, errors);
  const wanted = bytesField(form, errors, 'size', { min: ALIGNMENT, max: free });
  if (free < ALIGNMENT) {
    errors.drop('size');
    const why = "because it doesn't have enough free space.";
    errors.add('__all__', `Volume group (${group.name}) cannot hold any more logical volumes, ${why}`);
  }
  errors.refuse();
  refuseDeviceName(machine, name);
  const storage = new Storage(region, machine);
  const fields = { name, size: aligned(wanted ?? free), blockSize: 4096, group: group.id };
  const volume = storage.addVirtual({ ...fields, ...(uuid === null ? {} : { uuid }) });
  return json(viewDevice(storage.commit(), volume));
};

/** One that is not there is no error. */
export const deleteVolume: Handler = (call) => {
  const { machine, group } = groupFor(call, 'delete logical volume');
  const id = call.form.text('id') ?? refuse(badRequest('No provided id!'));
  if (!/^\d+$/.test(id)) refuseField('id', 'Enter a whole number.');
  const volume = volumesOf(machine, group).find((one) => String(one.id) === id);
  if (volume) {
    refuseMember(machine, volume);
    const storage = new Storage(call.region, machine);
    storage.removeVirtual(volume.id);
    storage.commit();
  }
  return deleted();
};

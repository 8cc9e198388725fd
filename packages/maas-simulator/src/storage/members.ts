import type { Form } from '../form.ts';
import type { FormErrors } from '../form-errors.ts';
import { choicesField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { devicesOf, partitionsOf } from './devices.ts';
import type { AnyDevice, Member } from './records.ts';
import { bootDiskOf, type Storage } from './storage.ts';
import { deviceName } from './view.ts';

/** A member with the names that a form may give for it: its id, and its name. */
type Offer = readonly [Member, ...names: readonly string[]];

/** Devices that nothing uses yet: no filesystem, no partition table. */
export const freeDevices = (machine: Readonly<Machine>): Offer[] =>
  devicesOf(machine)
    .filter(({ filesystem, partitions }) => filesystem === null && partitions === null)
    .map(({ id, name }): Offer => [{ kind: 'disk', id }, String(id), name]);

export const freePartitions = (machine: Readonly<Machine>): Offer[] =>
  partitionsOf(machine)
    .filter(({ partition }) => partition.filesystem === null)
    .map(
      ({ device, partition: { id, index } }): Offer => [
        { kind: 'partition', id },
        String(id),
        `${deviceName(machine, device)}-part${index}`,
      ],
    );

/** Members of a group with their names. */
export function offersOf(machine: Readonly<Machine>, members: readonly Member[], kind: Member['kind']): Offer[] {
  const all = kind === 'disk' ? devicesOf(machine) : partitionsOf(machine).map(({ partition }) => partition);
  return members
    .filter((member) => member.kind === kind)
    .map((member): Offer => {
      const found = all.find(({ id }) => id === member.id) as AnyDevice | undefined;
      return [member, String(member.id), found?.name ?? String(member.id)];
    });
}

/** The members that a field chooses among those on offer, in the order of their ids. */
export function membersField(form: Form, errors: FormErrors, field: string, offers: readonly Offer[]): Member[] {
  const isOffered = (value: string): boolean => offers.some(([, ...names]) => names.includes(value));
  const given = choicesField(form, errors, field, isOffered);
  return offers.filter(([, ...names]) => names.some((name) => given.includes(name))).map(([member]) => member);
}

/** The boot disk is never used as a whole: MAAS makes a partition of it. */
export function withoutBootDisk(machine: Readonly<Machine>, storage: Storage, members: readonly Member[]): Member[] {
  const boot = bootDiskOf(machine)?.id;
  return members.map((member) =>
    member.kind === 'disk' && member.id === boot ? partitionOver(storage, member) : member,
  );
}

/** A partition over the whole of a device. */
export function partitionOver(storage: Storage, { id }: Member): Member {
  const device = storage.device(id);
  return { kind: 'partition', id: storage.addPartition(id, storage.freeOn(device)).id };
}

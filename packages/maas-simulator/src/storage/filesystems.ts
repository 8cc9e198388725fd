import { badRequest, invalidRequest, json, refuse } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { FormErrors, REQUIRED, refuseField } from '../form-errors.ts';
import { requiredText, textField, uuidField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { devicesOf, groupOf, kindNames, memberOf, partitionsOf } from './devices.ts';
import { USER_FSTYPES } from './in-use.ts';
import { checkUsable, editableDevice, partitionOf } from './machine-of.ts';
import type { AnyDevice, Filesystem, Member, Partition } from './records.ts';
import { bootDiskOf, Storage } from './storage.ts';
import { viewDevice, viewPartition } from './view.ts';

interface Change {
  readonly call: Call;
  readonly machine: Readonly<Machine>;
  readonly member: Member;
  readonly present: Filesystem | null;
  /** As MAAS names it: `partition`, `block device`. */
  readonly thing: string;
  readonly storage: Storage;
}

const capitalized = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

function checkPlace({ machine, member, thing, present }: Change, fstype: string): void {
  if (present && !USER_FSTYPES.has(present.fstype)) {
    const text = `Cannot format a ${thing} that has a filesystem type of ${present.fstype}.`;
    refuse(badRequest(text));
  }
  if (member.kind === 'disk' && bootDiskOf(machine)?.id === member.id) {
    const why = 'Create a partition on the boot disk first and then format the partition.';
    refuse(invalidRequest({ __all__: [`Cannot place filesystem directly on the boot disk. ${why}`] }));
  }
  if (fstype === 'ramfs' || fstype === 'tmpfs') {
    refuse(invalidRequest({ __all__: ['Virtual filesystems must be mounted.'] }));
  }
}

function format(change: Change): Filesystem {
  const { call, member, storage } = change;
  const { form } = call;
  const errors = new FormErrors();
  const fstype = requiredText(form, errors, 'fstype');
  if (fstype !== '' && !USER_FSTYPES.has(fstype)) {
    errors.add('fstype', `Select a valid choice. ${fstype} is not one of the available choices.`);
  }
  const uuid = uuidField(form, errors);
  const isPartitioned = member.kind === 'disk' && storage.device(member.id).partitions !== null;
  if (isPartitioned && !errors.has('fstype'))
    errors.add('__all__', 'Cannot format block device with a partition table.');
  errors.refuse();
  checkPlace(change, fstype);
  const label = textField(form, errors, 'label', 255) ?? '';
  errors.refuse();
  return storage.made(fstype, member.id, { label, ...(uuid === null ? {} : { uuid }) });
}

function groupName(machine: Readonly<Machine>, member: Member): string | undefined {
  const kind = groupOf(machine, member)?.kind;
  return kind && kindNames[kind];
}

function unformat({ machine, member, present, thing }: Change): null {
  if (!present) return refuse(badRequest(`${capitalized(thing)} is not formatted.`));
  if (present.mountPoint !== null) {
    const what = `Unmount the filesystem before unformatting the ${thing}.`;
    refuse(badRequest(`Filesystem is mounted and cannot be unformatted. ${what}`));
  }
  const group = groupName(machine, member);
  if (group !== undefined) {
    const what = `Remove ${thing} from ${group} before unformatting the ${thing}.`;
    refuse(badRequest(`Filesystem is part of a ${group}, and cannot be unformatted. ${what}`));
  }
  return null;
}

function mountPointField(call: Call, errors: FormErrors): string {
  const point = call.form.text('mount_point') ?? '';
  if (point === '') errors.add('mount_point', REQUIRED);
  else if (!/^(?:\/[^/]*)*$/.test(point)) errors.add('mount_point', 'Enter a valid value.');
  else if (point.length > 255) {
    errors.add('mount_point', `Ensure this value has at most 255 characters (it has ${point.length}).`);
  }
  return point;
}

function mount({ call, machine, member, present }: Change): Filesystem {
  if (!present) return refuseField('__all__', 'Cannot mount an unformatted partition or block device.');
  const errors = new FormErrors();
  const isSwap = present.fstype === 'swap';
  const point = isSwap ? 'none' : mountPointField(call, errors);
  const options = textField(call.form, errors, 'mount_options', 255) ?? '';
  if (groupOf(machine, member)) {
    errors.add('__all__', 'Filesystem is part of a filesystem group, and cannot be mounted.');
  }
  errors.refuse();
  const self = memberOf(machine, member);
  const others = [...devicesOf(machine), ...partitionsOf(machine).map(({ partition }) => partition)];
  if (!isSwap && others.some((one) => one !== self && one.filesystem?.mountPoint === point)) {
    refuse(invalidRequest({ __all__: [`Another filesystem is already mounted at ${point}.`] }));
  }
  return { ...present, mountPoint: point, mountOptions: options };
}

function unmount({ present, thing }: Change): Filesystem {
  if (!present) return refuse(badRequest(`${capitalized(thing)} is not formatted.`));
  if (present.mountPoint === null) refuse(badRequest('Filesystem is already unmounted.'));
  return { ...present, mountPoint: null, mountOptions: null };
}

const changes: Readonly<Record<string, (change: Change) => Filesystem | null>> = { format, unformat, mount, unmount };

function apply(
  call: Call,
  machine: Readonly<Machine>,
  member: Member,
  what: { readonly doing: string; readonly thing: string; readonly present: Filesystem | null },
): Storage {
  const { doing, thing, present } = what;
  checkUsable(call, machine, doing, thing);
  const storage = new Storage(call.region, machine);
  const filesystem = changes[doing]?.({ call, machine, member, present, thing, storage }) ?? null;
  storage.filesystem(member, filesystem);
  storage.commit();
  return storage;
}

const onPartition =
  (doing: string): Handler =>
  (call) => {
    const { machine } = editableDevice(call);
    const { partition, device } = partitionOf(call, machine);
    const member: Member = { kind: 'partition', id: partition.id };
    const storage = apply(call, machine, member, { doing, thing: 'partition', present: partition.filesystem });
    return json(viewPartition(machine, device, storage.member(member) as Partition));
  };

const onDevice =
  (doing: string): Handler =>
  (call) => {
    const { machine, device } = editableDevice(call);
    const member: Member = { kind: 'disk', id: device.id };
    const storage = apply(call, machine, member, { doing, thing: 'block device', present: device.filesystem });
    return json(viewDevice(machine, storage.member(member) as AnyDevice));
  };

const each = (make: typeof onDevice): Readonly<Record<string, Handler>> =>
  Object.fromEntries(Object.keys(changes).map((doing) => [doing, make(doing)]));

/** Operations on partitions, and on disks and devices made of them. */
export const partitionOperations = each(onPartition);
export const deviceOperations = each(onDevice);

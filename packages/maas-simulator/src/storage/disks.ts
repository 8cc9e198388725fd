import { MachineStatus } from '@sitewright/maas/status';
import { badRequest, conflict, deleted, invalidForm, invalidRequest, json, refuse, text } from '../answer.ts';
import { administeredMachineOf, type Call, type Handler } from '../call.ts';
import { FormErrors, REQUIRED } from '../form-errors.ts';
import { bytesField, textField, uuidField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import type { Region } from '../region.ts';
import { devicesOf, groupOf, kindNames } from './devices.ts';
import { administeredDevice, checkReady, shownMachineOf, visibleDevice } from './machine-of.ts';
import type { AnyDevice, Disk, VirtualDevice } from './records.ts';
import { ALIGNMENT, aligned } from './sizes.ts';
import { Storage } from './storage.ts';
import { freeOfGroup, viewDevice } from './view.ts';

export function newDisk(
  region: Region,
  {
    name,
    size,
    ...fields
  }: Pick<Disk, 'name' | 'size' | 'blockSize' | 'model' | 'serial'> & { tags?: readonly string[] },
): Disk {
  const found = { name, size };
  return {
    tags: [],
    ...fields,
    ...found,
    id: region.next('disk'),
    type: 'physical',
    found,
    filesystem: null,
    partitions: null,
  };
}

export const listDisks: Handler = (call) => {
  const machine = shownMachineOf(call);
  return json(devicesOf(machine).map((device) => viewDevice(machine, device)));
};

export const readDisk: Handler = (call) => {
  const { machine, device } = visibleDevice(call);
  return json(viewDevice(machine, device));
};

/** The database refuses a name that another device of the machine has, volumes of other groups included. */
export function refuseDeviceName(machine: Readonly<Machine>, name: string, self?: number): void {
  if (!devicesOf(machine).some((device) => device.name === name && device.id !== self)) return;
  refuse(invalidRequest({ __all__: ['Block device with this Node config and Name already exists.'] }));
}

export const createDisk: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const { form, region } = call;
  const errors: Record<string, readonly string[]> = {};
  for (const name of ['name', 'size', 'block_size']) {
    const value = form.text(name);
    if (value === null) errors[name] = [REQUIRED];
    else if (name !== 'name' && !/^\d+$/.test(value)) errors[name] = ['Enter a whole number.'];
  }
  if (form.text('id_path') === null && (form.text('model') === null || form.text('serial') === null)) {
    errors.__all__ = ['serial/model are required if id_path is not provided.'];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
  const name = form.text('name') ?? '';
  refuseDeviceName(machine, name);
  const disk = newDisk(region, {
    name,
    size: Number(form.text('size')),
    blockSize: Number(form.text('block_size')),
    model: form.get('model') ?? '',
    serial: form.get('serial') ?? '',
  });
  region.editMachine(machine).disks = [...machine.disks, disk];
  return json(viewDevice(machine, disk));
};

/** A device in a group is not deleted. */
export function refuseMember(machine: Readonly<Machine>, device: AnyDevice): void {
  const group = groupOf(machine, { kind: 'disk', id: device.id });
  if (group) refuse(badRequest(`Cannot delete block device because its part of a ${kindNames[group.kind]}.`));
}

export const deleteDisk: Handler = (call) => {
  const { machine, device } = administeredDevice(call);
  checkReady(machine, 'delete block device');
  refuseMember(machine, device);
  const storage = new Storage(call.region, machine);
  if (device.type === 'physical') storage.removeDisk(device.id);
  else storage.removeVirtual(device.id);
  storage.commit();
  return deleted();
};

export const setBootDisk: Handler = (call) => {
  const { machine, device } = administeredDevice(call);
  checkReady(machine, 'set as boot disk');
  if (device.type !== 'physical') refuse(badRequest(`Cannot set a ${device.type} block device as the boot disk.`));
  call.region.editMachine(machine).bootDisk = device.id;
  return text('OK');
};

function updateDisk(call: Call, machine: Readonly<Machine>, disk: Disk): AnyDevice {
  const { form } = call;
  const errors = new FormErrors();
  const isDeployed = machine.status === MachineStatus.Deployed;
  const name = textField(form, errors, 'name', 255) ?? disk.name;
  const size = isDeployed ? disk.size : (bytesField(form, errors, 'size') ?? disk.size);
  const blockSize = isDeployed ? disk.blockSize : (bytesField(form, errors, 'block_size') ?? disk.blockSize);
  if (size < ALIGNMENT) errors.add('size', `Ensure this value is greater than or equal to ${ALIGNMENT}.`);
  if (blockSize < 512) errors.add('block_size', 'Ensure this value is greater than or equal to 512.');
  errors.refuse();
  refuseDeviceName(machine, name, disk.id);
  return {
    ...disk,
    name,
    size,
    blockSize,
    model: form.get('model') ?? disk.model,
    serial: form.get('serial') ?? disk.serial,
  };
}

function updateVirtual(call: Call, machine: Readonly<Machine>, device: VirtualDevice): AnyDevice {
  const { form } = call;
  if (machine.status === MachineStatus.Deployed) {
    refuse(conflict('Cannot update virtual block device because the machine is Deployed.'));
  }
  const errors = new FormErrors();
  const name = textField(form, errors, 'name', 255) ?? device.name;
  const uuid = uuidField(form, errors) ?? device.uuid;
  const wanted = bytesField(form, errors, 'size');
  const group = machine.groups.find(({ id }) => id === device.group);
  if (wanted !== null && wanted !== device.size && group?.kind !== 'lvm') {
    errors.add('size', 'Size cannot be changed on this device.');
  }
  const size = aligned(wanted ?? device.size);
  if (group?.kind === 'lvm' && size > freeOfGroup(machine, group) + device.size) {
    errors.add('__all__', `There is not enough free space (${size} bytes) on volume group ${group.name}.`);
  }
  errors.refuse();
  refuseDeviceName(machine, name, device.id);
  return { ...device, name, uuid, size: group?.kind === 'lvm' ? size : device.size };
}

export const updateDevice: Handler = (call) => {
  const { machine, device } = administeredDevice(call);
  if (machine.status !== MachineStatus.Deployed) checkReady(machine, 'update block device');
  const changed = device.type === 'physical' ? updateDisk(call, machine, device) : updateVirtual(call, machine, device);
  const storage = new Storage(call.region, machine);
  storage.put(changed);
  return json(viewDevice(storage.commit(), changed));
};

const changeTag =
  (change: (tags: readonly string[], tag: string) => readonly string[]): Handler =>
  (call) => {
    const { machine, device } = administeredDevice(call);
    checkReady(machine, 'update block device');
    const tag = call.form.text('tag') ?? refuse(badRequest('No provided tag!'));
    const storage = new Storage(call.region, machine);
    const changed = { ...device, tags: change(device.tags, tag) };
    storage.put(changed);
    return json(viewDevice(storage.commit(), changed));
  };

export const withTag = (tags: readonly string[], tag: string): readonly string[] =>
  tags.includes(tag) ? tags : [...tags, tag];
export const withoutTag = (tags: readonly string[], tag: string): readonly string[] =>
  tags.filter((one) => one !== tag);

export const addDeviceTag = changeTag(withTag);
export const removeDeviceTag = changeTag(withoutTag);

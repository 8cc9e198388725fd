import { MachineStatus } from '../maas/status.js';
import { conflict, deleted, invalidForm, invalidRequest, json, notFound, refuse } from './answer.js';
import { administeredMachineOf, type Call, type Handler, machineOf } from './call.js';
import { newDisk } from './hardware.js';
import type { Disk, Machine } from './records.js';
import { viewDisk } from './storage-view.js';

function diskOf(call: Call, machine: Readonly<Machine>): Disk {
  const wanted = call.parts[1] ?? '';
  return (
    machine.disks.find((disk) => String(disk.id) === wanted || disk.name === wanted) ?? refuse(notFound('BlockDevice'))
  );
}

function readyMachineOf(call: Call, doing: string): Readonly<Machine> {
  const machine = administeredMachineOf(call);
  if (machine.status !== MachineStatus.Ready && machine.status !== MachineStatus.Allocated) {
    refuse(conflict(`Cannot ${doing} block device because the machine is not Ready.`));
  }
  return machine;
}

export const listDisks: Handler = (call) => {
  const machine = machineOf(call);
  return json(machine.disks.map((disk) => viewDisk(machine, disk)));
};

export const readDisk: Handler = (call) => {
  const machine = machineOf(call);
  return json(viewDisk(machine, diskOf(call, machine)));
};

export const createDisk: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const { form, region } = call;
  const errors: Record<string, readonly string[]> = {};
  for (const name of ['name', 'size', 'block_size']) {
    const value = form.text(name);
    if (value === null) errors[name] = ['This field is required.'];
    else if (name !== 'name' && !/^\d+$/.test(value)) errors[name] = ['Enter a whole number.'];
  }
  if (form.text('id_path') === null && (form.text('model') === null || form.text('serial') === null)) {
    errors.__all__ = ['serial/model are required if id_path is not provided.'];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
  const name = form.text('name') ?? '';
  if (machine.disks.some((disk) => disk.name === name)) {
    refuse(invalidRequest({ __all__: ['Block device with this Node config and Name already exists.'] }));
  }
  const disk = newDisk(region, {
    name,
    size: Number(form.text('size')),
    blockSize: Number(form.text('block_size')),
    model: form.get('model') ?? '',
    serial: form.get('serial') ?? '',
  });
  region.editMachine(machine).disks = [...machine.disks, disk];
  return json(viewDisk(machine, disk));
};

export const deleteDisk: Handler = (call) => {
  const machine = readyMachineOf(call, 'delete');
  const disk = diskOf(call, machine);
  const row = call.region.editMachine(machine);
  row.disks = machine.disks.filter((other) => other.id !== disk.id);
  if (row.layout?.bootDisk === disk.id) row.layout = null;
  return deleted();
};

export const setBootDisk: Handler = (call) => {
  const machine = readyMachineOf(call, 'set as boot disk the');
  const disk = diskOf(call, machine);
  const row = call.region.editMachine(machine);
  row.disks = [disk, ...machine.disks.filter((other) => other.id !== disk.id)];
  return json(viewDisk(machine, disk));
};

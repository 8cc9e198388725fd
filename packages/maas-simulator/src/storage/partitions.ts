import { badRequest, deleted, json, refuse, serverError } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { FormErrors, refuseField } from '../form-errors.ts';
import { bytesField, uuidField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { groupOf, kindNames } from './devices.ts';
import { withoutTag, withTag } from './disks.ts';
import { administeredDevice, checkReady, nothingThere, partitionOf, visibleDevice } from './machine-of.ts';
import type { AnyDevice } from './records.ts';
import { ALIGNMENT, aligned, freeForPartitions } from './sizes.ts';
import { Storage } from './storage.ts';
import { viewPartition } from './view.ts';

/** Logical volumes and bcaches cannot be partitioned. */
function refuseVirtual(machine: Readonly<Machine>, device: AnyDevice): void {
  const group = device.type === 'virtual' ? machine.groups.find(({ id }) => id === device.group) : undefined;
  const what = { lvm: 'logical', bcache: 'Bcache', raid: null, vmfs: null }[group?.kind ?? 'raid'];
  if (what !== null) refuseField('block_device', `Cannot create a partition table on a ${what} volume.`);
}

/** Up to one multiple too large, a size is rounded down to the free space. */
function refuseTooLarge(size: number, free: number, blockSize: number): void {
  if (free < size - blockSize) {
    refuseField('size', 'Partition cannot be saved; not enough free space on the block device.');
  }
}

export const createPartition: Handler = (call) => {
  const { machine, device } = administeredDevice(call);
  checkReady(machine, 'create partition', 'node');
  const { form, region } = call;
  const errors = new FormErrors();
  const wanted = bytesField(form, errors, 'size', { min: ALIGNMENT, max: device.size });
  const uuid = uuidField(form, errors);
  errors.refuse();
  refuseVirtual(machine, device);
  const free = freeForPartitions(machine, device);
  const size = aligned(wanted ?? free);
  if (size < ALIGNMENT) refuseField('size', `Ensure this value is greater than or equal to ${ALIGNMENT}.`);
  refuseTooLarge(size, free, device.blockSize);
  const storage = new Storage(region, machine);
  const partition = storage.addPartition(device.id, size, {
    bootable: form.flag('bootable'),
    ...(uuid === null ? {} : { uuid }),
  });
  return json(viewPartition(storage.commit(), device, partition));
};

export const listPartitions: Handler = (call) => {
  const { machine, device } = visibleDevice(call);
  // MAAS' own error.
  if (device.partitions === null) return serverError('PartitionTable matching query does not exist.');
  return json(device.partitions.map((partition) => viewPartition(machine, device, partition)));
};

export const readPartition: Handler = (call) => {
  const { machine } = visibleDevice(call);
  const { device, partition } = partitionOf(call, machine);
  return json(viewPartition(machine, device, partition));
};

export const deletePartition: Handler = (call) => {
  const { machine, device } = administeredDevice(call);
  if (device.partitions === null) refuse(nothingThere());
  checkReady(machine, 'delete block device', 'node');
  const { partition, device: its } = partitionOf(call, machine);
  const group = groupOf(machine, { kind: 'partition', id: partition.id });
  if (group) refuse(badRequest(`Cannot delete partition because its part of a ${kindNames[group.kind]}.`));
  const storage = new Storage(call.region, machine);
  storage.removePartition(its.id, partition.id);
  storage.commit();
  return deleted();
};

const changeTag =
  (change: typeof withTag): Handler =>
  (call: Call) => {
    const { machine } = administeredDevice(call);
    const { device, partition } = partitionOf(call, machine);
    const tag = call.form.text('tag') ?? refuse(badRequest('No provided tag!'));
    const changed = { ...partition, tags: change(partition.tags, tag) };
    const storage = new Storage(call.region, machine);
    storage.put({
      ...device,
      partitions: (device.partitions ?? []).map((one) => (one.id === partition.id ? changed : one)),
    });
    return json(viewPartition(storage.commit(), device, changed));
  };

export const addPartitionTag = changeTag(withTag);
export const removePartitionTag = changeTag(withoutTag);

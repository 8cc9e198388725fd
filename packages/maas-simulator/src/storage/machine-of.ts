import { MachineStatus } from '@sitewright/maas/status';
import { type Answer, conflict, forbidden, missing, notFound, refuse } from '../answer.ts';
import { administeredMachineOf, type Call, editableMachineOf, machineOf, may, maySee } from '../call.ts';
import type { Machine } from '../records.ts';
import { devicesOf, partitionsOf } from './devices.ts';
import { asUsed } from './in-use.ts';
import type { AnyDevice, Partition } from './records.ts';
import { deviceName } from './view.ts';

/** MAAS' 404 for partitions and cache sets has no words. */
export const nothingThere = (): Answer => ({ ...missing(''), type: 'text/plain' });

/** By id, or by name when it is no number. */
export function named<Item extends { readonly id: number }>(
  items: readonly Item[],
  wanted: string | undefined,
  nameOf: (item: Item) => string,
): Item | undefined {
  const isId = /^\d+$/.test(wanted ?? '');
  return items.find((item) => (isId ? String(item.id) === wanted : nameOf(item) === wanted));
}

/** The machine of the path, with the filesystems that it shows. */
export const shownMachineOf = (call: Call): Readonly<Machine> => asUsed(machineOf(call));

/** The machine of a call that lays out its storage anew: for administrators, and only when it is Ready. */
export function readyMachineOf(call: Call, doing: string, what = 'machine'): Readonly<Machine> {
  const machine = administeredMachineOf(call);
  checkReady(machine, doing, what);
  return machine;
}

export function checkReady({ status }: Readonly<Machine>, doing: string, what = 'machine'): void {
  if (status !== MachineStatus.Ready) refuse(conflict(`Cannot ${doing} because the ${what} is not Ready.`));
}

interface OnDevice {
  readonly machine: Readonly<Machine>;
  readonly device: AnyDevice;
}

/** The device of the path, as the caller sees it. */
export function visibleDevice(call: Call): OnDevice {
  const machine = call.region.machines.get(call.parts[0] ?? '');
  const device = machine && named(devicesOf(asUsed(machine)), call.parts[1], (one) => one.name);
  if (!machine || !device) return refuse(notFound('BlockDevice'));
  if (!maySee(call.user, machine)) refuse(forbidden());
  return { machine: asUsed(machine), device };
}

/** The same for administrators. */
export function administeredDevice(call: Call): OnDevice {
  const found = visibleDevice(call);
  administeredMachineOf(call);
  return found;
}

/** The same for the users of a machine. */
export function editableDevice(call: Call): OnDevice {
  const found = visibleDevice(call);
  editableMachineOf(call);
  return found;
}

/** The partition of the path; like MAAS, of any disk of the machine. */
export function partitionOf(call: Call, machine: Readonly<Machine>): { device: AnyDevice; partition: Partition } {
  const wanted = call.parts[2];
  const isId = /^\d+$/.test(wanted ?? '');
  const found = partitionsOf(machine).find(({ device, partition }) =>
    isId ? String(partition.id) === wanted : `${deviceName(machine, device)}-part${partition.index}` === wanted,
  );
  return found ?? refuse(nothingThere());
}

/** Filesystems may also be changed on an allocated machine, by who has it. */
export function checkUsable(call: Call, machine: Readonly<Machine>, doing: string, thing: string): void {
  const what = thing === 'partition' ? 'node' : 'machine';
  const { status } = machine;
  if (status !== MachineStatus.Ready && status !== MachineStatus.Allocated) {
    refuse(conflict(`Cannot ${doing} ${thing} because the ${what} is not Ready or Allocated.`));
  }
  if (status === MachineStatus.Ready && !may(call.user, 'can_edit_machines')) {
    refuse(forbidden(`Cannot ${doing} ${thing} because you don't have the permissions on a Ready ${what}.`));
  }
}

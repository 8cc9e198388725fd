import { MachineStatus } from '@sitewright/maas/status';
import { conflict, forbidden, notFound, refuse } from '../answer.ts';
import { administeredMachineOf, type Call, may, maySee } from '../call.ts';
import type { Machine } from '../records.ts';
import type { NetworkInterface } from './records.ts';

/** States in which an interface may be configured. */
const configurable: ReadonlySet<number> = new Set([
  MachineStatus.New,
  MachineStatus.Ready,
  MachineStatus.Allocated,
  MachineStatus.FailedTesting,
  MachineStatus.Broken,
]);

function checkState(machine: Readonly<Machine>, doing: string, also?: MachineStatus): void {
  if (configurable.has(machine.status) || machine.status === also) return;
  refuse(conflict(`Cannot ${doing} interface because the machine is not New, Ready, Allocated, or Broken.`));
}

/** The machine of a call that makes an interface. */
export function machineForNew(call: Call, doing: string): Readonly<Machine> {
  const machine = administeredMachineOf(call);
  checkState(machine, doing);
  return machine;
}

/** The machine and interface of the path, by id or name, as the caller sees them. */
export function visibleInterface(call: Call): { machine: Readonly<Machine>; nic: NetworkInterface } {
  const [id = '', wanted = ''] = call.parts;
  const machine = call.region.machines.get(id);
  const nic = machine?.interfaces.find((one) => (/^\d+$/.test(wanted) ? String(one.id) : one.name) === wanted);
  if (!machine || !nic) return refuse(notFound('Interface'));
  if (!maySee(call.user, machine)) refuse(forbidden());
  return { machine, nic };
}

/** The same for a change, which is for administrators, even of one's own machine. A lock does not count here. */
export function interfaceFor(
  call: Call,
  doing: string,
  also?: MachineStatus,
): { machine: Readonly<Machine>; nic: NetworkInterface } {
  const found = visibleInterface(call);
  if (!may(call.user, 'can_edit_machines')) refuse(forbidden());
  checkState(found.machine, doing, also);
  return found;
}

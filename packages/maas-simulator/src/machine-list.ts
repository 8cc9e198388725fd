import { MachineStatus, machineStatusName } from '@sitewright/maas/status';
import {
  type Answer,
  badRequest,
  conflict,
  forbidden,
  invalidForm,
  json,
  jsonText,
  refuse,
  serverError,
} from './answer.ts';
import { type Call, type Handler, maySee, requireRight } from './call.ts';
import { describeConstraints, isMac, selectMachines } from './constraints.ts';
import { Form } from './form.ts';
import { acquire, startCommissioning } from './machine-operations.ts';
import { machineText, viewMachine } from './machine-view.ts';
import type { Machine } from './records.ts';
import { releasability, releaseOrErase } from './release.ts';

/** A list of machines as JSON. */
export function listOf(call: Call, machines: readonly Readonly<Machine>[]): Answer {
  const shown = machines.filter((machine) => maySee(call.user, machine));
  return jsonText(`[${shown.map((machine) => machineText(call.region, machine)).join(', ')}]`);
}

export const listMachines: Handler = (call) => {
  const selection = selectMachines(call.region, call.query, 'list');
  if ('errors' in selection) refuse(invalidForm(selection.errors));
  return listOf(call, selection.machines);
};

/** Only machines in Allocated, of the caller. */
export const listAllocated: Handler = (call) => {
  const ids = call.query.all('id');
  const mine = [...call.region.machines.values()].filter(
    (machine) => machine.status === MachineStatus.Allocated && machine.owner === call.user.username,
  );
  return listOf(call, ids.length === 0 ? mine : mine.filter((machine) => ids.includes(machine.id)));
};

export const isRegistered: Handler = (call) => {
  const mac = call.query.text('mac_address');
  if (mac === null) return refuse(badRequest('No provided mac_address!'));
  if (!isMac(mac)) return refuse(invalidForm({ mac_address: [`'${mac}' is not a valid MAC address.`] }));
  return json(call.region.machineWithMac(mac) !== undefined);
};

/** The power parameters of many machines by id. */
export const listPowerParameters: Handler = (call) => {
  requireRight(call, 'can_edit_machines');
  const ids = call.query.all('id');
  const machines =
    ids.length > 0 ? ids.flatMap((id) => call.region.machines.get(id) ?? []) : [...call.region.machines.values()];
  return json(Object.fromEntries(machines.map((machine) => [machine.id, machine.powerParameters])));
};

export const allocate: Handler = (call) => {
  // MAAS' own answer to a JSON body here.
  if (call.isJson) refuse(serverError("'dict' object has no attribute 'lists'"));
  const { form, region } = call;
  const selection = selectMachines(region, form, 'allocation');
  if ('errors' in selection) refuse(invalidForm(selection.errors));
  const free = selection.machines.find((machine) => machine.status === MachineStatus.Ready && machine.owner === null);
  if (!free) {
    const id = form.text('system_id');
    if (id !== null) refuse(conflict(`No machine with system ID ${id} available.`));
    const { given, resolved } = describeConstraints(form);
    if (resolved === '') refuse(conflict('No machine available.'));
    refuse(conflict(`No available machine matches constraints: ${given} (resolved to "${resolved}")`));
  }
  if (!form.flag('dry_run')) acquire(call, free, form.text('agent_name') ?? '');
  return json({ ...viewMachine(region, free), constraints_by_type: {} });
};

/** All or nothing: if one machine is in a wrong state, none is released. */
export const releaseMany: Handler = (call) => {
  const { form, region, user } = call;
  const ids = [...new Set(form.all('machines'))];
  const unknown = ids.filter((id) => !region.machines.has(id));
  if (unknown.length > 0) refuse(badRequest(`Unknown machine(s): ${unknown.join(', ')}.`));
  const machines = ids.flatMap((id) => region.machines.get(id) ?? []);
  const foreign = machines.filter((machine) => machine.locked || !maySee(user, machine));
  if (foreign.length > 0) {
    const list = foreign.map(({ id }) => id).join(', ');
    refuse(forbidden(`You don't have the required permission to release the following machine(s): ${list}.`));
  }
  // Unlike a single release, a release of many is refused if one is already releasing.
  const stuck = machines.filter(
    (machine) => machine.status !== MachineStatus.Ready && releasability(machine) !== 'release',
  );
  if (stuck.length > 0) {
    const list = stuck.map(({ id, status }) => `${id} ('${machineStatusName(status)}')`).join(', ');
    refuse(conflict(`Machine(s) cannot be released in their current state: ${list}.`));
  }
  // Only the comment of the parameters of a single release is used.
  const comment = new Form(form.all('comment').map((text): [string, string] => ['comment', text]));
  const released = machines.filter((machine) => releasability(machine) === 'release');
  for (const machine of released) {
    const answer = releaseOrErase(call, machine, comment, { what: 'release', user: user.username });
    if (answer.status !== 200) return answer;
  }
  return json(released.map(({ id }) => id));
};

/** Accepts New machines; as in MAAS, machines that are no longer New are skipped. */
function acceptMachines(call: Call, ids: readonly string[]): Answer {
  requireRight(call, 'can_edit_machines');
  const unknown = ids.filter((id) => !call.region.machines.has(id));
  if (unknown.length > 0) refuse(badRequest(`Unknown machine(s): ${unknown.join(', ')}.`));
  const fresh = ids.flatMap((id) => call.region.machines.get(id) ?? []);
  const wrong = fresh.filter((machine) => machine.status !== MachineStatus.New);
  if (wrong.length > 0) {
    const list = wrong.map(({ id, status }) => `${id} is ${machineStatusName(status)}`).join(', ');
    refuse(conflict(`Cannot accept machine enlistment: ${list}.`));
  }
  for (const machine of fresh) startCommissioning(call, machine);
  return listOf(call, fresh);
}

export const accept: Handler = (call) => acceptMachines(call, call.form.all('machines'));

export const acceptAll: Handler = (call) => {
  const fresh = [...call.region.machines.values()].filter((machine) => machine.status === MachineStatus.New);
  return acceptMachines(
    call,
    fresh.map(({ id }) => id),
  );
};

export const setZone: Handler = (call) => {
  requireRight(call, 'can_edit_machines');
  const zone = call.form.text('zone') ?? '';
  if (!call.region.zones.has(zone)) {
    refuse(invalidForm({ zone: ['Select a valid choice. That choice is not one of the available choices.'] }));
  }
  for (const id of call.form.all('nodes')) {
    const machine = call.region.machines.get(id);
    if (machine) call.region.editMachine(machine).zone = zone;
  }
  return json(null);
};

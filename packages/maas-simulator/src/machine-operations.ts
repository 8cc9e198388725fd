import { MachineStatus, machineStatusName } from '@sitewright/maas/status';
import {
  type Answer,
  afterCommit,
  conflict,
  forbidden,
  invalidForm,
  invalidRequest,
  json,
  powerUnavailable,
  refuse,
  serverError,
} from './answer.ts';
import { beginPhase } from './automation.ts';
import { administeredMachineOf, type Call, editableMachineOf, type Handler, machineOf, may } from './call.ts';
import { Form } from './form.ts';
import { subnetWithSpace } from './hardware.ts';
import { chooseImage } from './images.ts';
import { viewMachine } from './machine-view.ts';
import { findAddresses } from './network/addresses.ts';
import { cardsOf, findNetwork } from './network/commissioned.ts';
import { Interfaces } from './network/interfaces.ts';
import type { Machine } from './records.ts';
import { blankSystem, cannotRelease, clearUse, releasability, releaseOrErase } from './release.ts';
import {
  type Cause,
  disown,
  endScripts,
  hasBmc,
  isOutOfReach,
  move,
  noteEvent,
  noteRequest,
  startScripts,
} from './simulation.ts';
import { hasRootFilesystem } from './storage/devices.ts';
import { asUsed, userFilesystems } from './storage/in-use.ts';
import { refuseWithoutDisks, setLayout, storageLayouts } from './storage/layouts.ts';
import { scriptErrors } from './test-scripts.ts';

const causeOf = (call: Call, what: string): Cause => ({ what, user: call.user.username });
const view = (call: Call, machine: Readonly<Machine>): Answer => json(viewMachine(call.region, machine));

/** The upper-case name of a state in MAAS' code, for some messages. */
const constantOf = (status: number): string => machineStatusName(status).toUpperCase().replaceAll(' ', '_');

const commissionable: ReadonlySet<number> = new Set([
  MachineStatus.New,
  MachineStatus.FailedCommissioning,
  MachineStatus.Ready,
  MachineStatus.Broken,
]);

export const commission: Handler = (call) => startCommissioning(call, administeredMachineOf(call));

/** Also the second half of an administrator's `POST machines/`. */
export function startCommissioning(call: Call, machine: Readonly<Machine>): Answer {
  const { form, region, user } = call;
  const errors: Record<string, readonly string[]> = scriptErrors(form);
  if (!commissionable.has(machine.status)) {
    errors.__all__ = ['Commission is not available because of the current state of the node.'];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
  const row = region.editMachine(machine);
  row.owner = user.username;
  if (isOutOfReach(call, machine)) {
    const back = `Aborting COMMISSIONING and reverting to ${constantOf(machine.status)}`;
    const hint = 'Unable to power control the node. Please check power credentials.';
    noteEvent(call, machine, 'WARNING', "Failed to query node's BMC", `(${user.username}) - ${back}. ${hint}`);
    return afterCommit(powerUnavailable(machine.hostname));
  }
  row.previousStatus = machine.status;
  noteRequest(call, machine, 'User starting node commissioning', user.username, form.text('comment'));
  move(call, machine, MachineStatus.Commissioning, causeOf(call, 'commission'));
  row.statusAction = '';
  row.skips = { networking: form.flag('skip_networking'), storage: form.flag('skip_storage') };
  if (!row.skips.networking) clearNetwork(call, machine);
  if (!row.skips.storage) setLayout(region, machine, 'blank');
  startScripts(call, machine, 'commissioning');
  const tests = form.words('testing_scripts');
  if (!tests.includes('none')) startScripts(call, machine, 'testing', tests.length > 0 ? tests : ['smartctl-validate']);
  noteEvent(call, machine, 'INFO', 'Commissioning');
  const answer = view(call, machine);
  if (hasBmc(machine)) row.powerState = 'on';
  beginPhase(call, machine);
  return answer;
}

function clearNetwork(call: Call, machine: Readonly<Machine>): void {
  const interfaces = new Interfaces(call.region, machine);
  for (const { id } of interfaces.all) interfaces.clearLinks(id);
  interfaces.commit();
}

/** The checks of a deployment before any change. */
function checkDeployable(call: Call, machine: Readonly<Machine>): void {
  if (!machine.interfaces.some((nic) => nic.links.some((link) => link.mode !== 'link_up'))) {
    refuse(invalidRequest({ network: ['Node must be configured to use a network'] }));
  }
  if (machine.disks.length > 0 && !hasRootFilesystem(asUsed(machine))) {
    refuse(invalidRequest({ storage: ["Mount the root '/' filesystem to be able to deploy this node."] }));
  }
  if (isOutOfReach(call, machine)) {
    refuse(serverError(`Error determining BMC task queue for machine ${machine.id}`));
  }
}

export const deploy: Handler = (call) => {
  const machine = editableMachineOf(call);
  const { region, user } = call;
  if (machine.status === MachineStatus.Ready && machine.owner !== null && machine.owner !== user.username) {
    refuse(conflict("Can't allocate a machine belonging to another user."));
  }
  if (machine.status !== MachineStatus.Ready && machine.status !== MachineStatus.Allocated) {
    refuse(conflict(`Can't deploy a machine that is in the '${machineStatusName(machine.status)}' state`));
  }
  // Deploy reads only form fields and ignores a JSON body.
  const form = call.isJson ? new Form() : call.form;
  if ((form.flag('install_kvm') || form.flag('register_vmhost')) && !may(user, 'can_edit_machines'))
    refuse(forbidden());
  const chosen = chooseImage(region, machine, form);
  if ('errors' in chosen) refuse(invalidForm(chosen.errors));
  checkDeployable(call, machine);
  const found = findAddresses(call, machine);
  if ('exhausted' in found) refuse(found.exhausted);

  if (machine.status === MachineStatus.Ready) acquire(call, machine, form.text('agent_name') ?? '');
  const row = region.editMachine(machine);
  row.osystem = chosen.choice.osystem;
  row.distroSeries = chosen.choice.series;
  row.hweKernel = chosen.choice.kernel;
  row.ephemeral = form.flag('ephemeral_deploy') || machine.disks.length === 0;
  row.agentName = form.text('agent_name') ?? machine.agentName;
  row.userData = form.text('user_data');
  noteRequest(call, machine, 'User starting deployment', user.username, form.text('comment'));
  const answer = startDeploying(call, machine, 'deploy');
  // Addresses are assigned after the answer: the next read has them.
  region.setInterfaces(machine, found.interfaces);
  return answer;
};

/** Allocated to Deploying; also what `power_on` does to an allocated machine. */
export function startDeploying(call: Call, machine: Readonly<Machine>, what: string): Answer {
  move(call, machine, MachineStatus.Deploying, causeOf(call, what));
  const row = call.region.editMachine(machine);
  row.statusAction = '';
  startScripts(call, machine, 'installation');
  noteEvent(call, machine, 'INFO', 'Deploying');
  const answer = view(call, machine);
  if (hasBmc(machine)) row.powerState = 'on';
  beginPhase(call, machine);
  return answer;
}

/** Makes the caller the owner of a Ready machine. */
export function acquire(call: Call, machine: Readonly<Machine>, agentName: string): void {
  move(call, machine, MachineStatus.Allocated, causeOf(call, 'allocate'));
  const row = call.region.editMachine(machine);
  row.owner = call.user.username;
  row.agentName = agentName;
  row.userFilesystems = userFilesystems(row);
  noteRequest(call, machine, 'User acquiring node', call.user.username, call.form.text('comment'));
}

export const release: Handler = (call) => {
  const machine = editableMachineOf(call);
  switch (releasability(machine)) {
    case 'nothing':
      return view(call, machine);
    case 'refused':
      return refuse(cannotRelease(machine));
    case 'release':
      return releaseOrErase(call, machine, call.form, causeOf(call, 'release'));
  }
};

/** The state after an abort, and its name in the events. */
function abortOf(
  machine: Readonly<Machine>,
): { readonly to: MachineStatus; readonly message: string; readonly request: string } | null {
  switch (machine.status) {
    case MachineStatus.Commissioning: {
      const back = machine.previousStatus === MachineStatus.Ready ? MachineStatus.Ready : MachineStatus.New;
      return { to: back, message: 'Aborted commissioning', request: 'User aborting node commissioning' };
    }
    case MachineStatus.Deploying:
      return { to: MachineStatus.Allocated, message: 'Aborted deployment', request: 'User aborting deployment' };
    case MachineStatus.DiskErasing:
      return {
        to: MachineStatus.FailedDiskErasing,
        message: 'Aborted disk erasing',
        request: 'User aborting disk erase',
      };
    case MachineStatus.Testing:
      return {
        to: machine.previousStatus as MachineStatus,
        message: 'Aborted testing',
        request: 'User aborting node testing',
      };
    default:
      return null;
  }
}

export const abort: Handler = (call) => {
  const machine = editableMachineOf(call);
  const { status } = machine;
  const aborted = abortOf(machine);
  if (aborted === null) {
    refuse(conflict(`Cannot abort in current state: node ${machine.id} is in state ${machineStatusName(status)}.`));
  }
  if (isOutOfReach(call, machine)) refuse(afterCommit(powerUnavailable(machine.hostname)));
  noteRequest(call, machine, aborted.request, call.user.username, call.form.text('comment'));
  const pending = { [MachineStatus.Commissioning]: 'commissioning', [MachineStatus.Testing]: 'testing' } as const;
  const type =
    pending[status as keyof typeof pending] ?? (status === MachineStatus.Deploying ? 'installation' : 'release');
  const before = viewMachine(call.region, machine);
  endScripts(call, machine, type, 'aborted');
  move(call, machine, aborted.to, causeOf(call, 'abort'));
  const row = call.region.editMachine(machine);
  if (status === MachineStatus.Commissioning) disown(call, machine);
  if (status === MachineStatus.Testing && (aborted.to === MachineStatus.Ready || aborted.to === MachineStatus.New)) {
    disown(call, machine);
  }
  if (hasBmc(machine)) row.powerState = 'off';
  noteEvent(call, machine, 'INFO', aborted.message);
  // The answer has the state before the abort, with the owner and message after it.
  return json({ ...before, owner: row.owner, status_message: row.statusMessage });
};

export const lock: Handler = (call) => {
  const machine = machineOf(call);
  if (machine.locked) refuse(conflict('Machine is already locked'));
  if (machine.status !== MachineStatus.Deployed && machine.status !== MachineStatus.Deploying) {
    refuse(conflict("Can't lock, node is not deployed or deploying"));
  }
  noteRequest(call, machine, 'User locking node', call.user.username, call.form.text('comment'));
  call.region.editMachine(machine).locked = true;
  return view(call, machine);
};

export const unlock: Handler = (call) => {
  const machine = machineOf(call);
  if (!machine.locked) refuse(conflict('Machine is not locked'));
  noteRequest(call, machine, 'User unlocking node', call.user.username, call.form.text('comment'));
  call.region.editMachine(machine).locked = false;
  return view(call, machine);
};

export const markBroken: Handler = (call) => {
  const machine = editableMachineOf(call);
  if (machine.owner !== call.user.username) refuse(forbidden());
  noteRequest(call, machine, 'User marking node broken', call.user.username, call.form.text('comment'));
  const releases = releasability(machine) === 'release';
  const from = machine.status;
  move(call, machine, MachineStatus.Broken, causeOf(call, 'mark_broken'));
  const row = call.region.editMachine(machine);
  row.previousStatus = from;
  // A machine in use is also released; with its power on it keeps owner, owner data and addresses, as MAAS waits for it.
  if (releases) {
    if (!hasBmc(machine) || machine.powerState === 'off') {
      clearUse(call, machine);
      noteEvent(call, machine, 'INFO', 'Released');
    } else blankSystem(call, machine);
  }
  row.errorDescription = call.form.text('comment') ?? call.form.text('error_description') ?? '';
  return view(call, machine);
};

/** A machine that was deployed is so again; any other is Ready, without owner but with the owner's data. */
export const markFixed: Handler = (call) => {
  const machine = administeredMachineOf(call);
  if (machine.status !== MachineStatus.Broken) refuse(conflict("Can't mark a non-broken node as 'Ready'."));
  noteRequest(call, machine, 'User marking node fixed', call.user.username, call.form.text('comment'));
  const to = machine.previousStatus === MachineStatus.Deployed ? MachineStatus.Deployed : MachineStatus.Ready;
  move(call, machine, to, causeOf(call, 'mark_fixed'));
  const row = call.region.editMachine(machine);
  Object.assign(row, { errorDescription: '', osystem: '', distroSeries: '', hweKernel: null });
  if (to === MachineStatus.Ready) row.owner = null;
  return view(call, machine);
};

export const setStorageLayout: Handler = (call) => {
  const machine = administeredMachineOf(call);
  if (machine.status !== MachineStatus.Ready) {
    refuse(conflict('Cannot change the storage layout on a machine that is not Ready.'));
  }
  const name = call.form.text('storage_layout');
  if (name === null) refuse(invalidForm({ storage_layout: ['This field is required.'] }));
  if (!(storageLayouts as readonly string[]).includes(name)) {
    const known = storageLayouts.map((layout) => `'${layout}'`).join(', ');
    refuse(
      invalidForm({ storage_layout: [`'${name}' is not a valid storage_layout.  It should be one of: ${known}.`] }),
    );
  }
  refuseWithoutDisks(machine, name);
  setLayout(call.region, machine, name, call.form);
  return view(call, machine);
};

/** `set_workload_annotations` and its older name; an empty value removes the key. */
export const setOwnerData: Handler = (call) => {
  const machine = editableMachineOf(call);
  // Even an administrator must be the owner.
  if (machine.owner !== call.user.username) {
    refuse(conflict("Cannot set workload annotation: it hasn't been acquired."));
  }
  const data: Record<string, string> = { ...machine.ownerData };
  for (const name of call.form.names) {
    if (name === 'op') continue;
    if (/[^\w.\-/]/.test(name)) refuse(invalidForm({ [name]: ['Invalid character in key name.'] }));
    const value = call.form.get(name) ?? '';
    if (value === '') delete data[name];
    else data[name] = value;
  }
  call.region.editMachine(machine).ownerData = data;
  return view(call, machine);
};

/** For the operations that restore the commissioned state. */
function restorable(call: Call, what: string): Readonly<Machine> {
  const machine = administeredMachineOf(call);
  if (machine.status !== MachineStatus.Ready && machine.status !== MachineStatus.FailedTesting) {
    refuse(conflict(`Machine must be in a ready or failed testing state to restore ${what}`));
  }
  return machine;
}

function restoreNetwork({ region }: Call, machine: Readonly<Machine>): void {
  findNetwork(region, machine, machine.foundNics ?? cardsOf(region, machine, () => subnetWithSpace(region)));
}

function restoreDisks({ region }: Call, machine: Readonly<Machine>): void {
  region.editMachine(machine).disks = machine.disks.map((disk) => ({ ...disk, ...disk.found }));
  const usual = region.settings.get('default_storage_layout')?.value;
  setLayout(region, machine, typeof usual === 'string' ? usual : 'flat');
}

export const restoreNetworking: Handler = (call) => {
  const machine = restorable(call, 'networking configuration');
  restoreNetwork(call, machine);
  return view(call, machine);
};

export const restoreStorage: Handler = (call) => {
  const machine = restorable(call, 'storage configuration.');
  restoreDisks(call, machine);
  return view(call, machine);
};

export const restoreDefaults: Handler = (call) => {
  const machine = restorable(call, 'default networking and storage configuration.');
  restoreNetwork(call, machine);
  restoreDisks(call, machine);
  return view(call, machine);
};

import { MachineStatus } from '@sitewright/maas/status';
import {
  type Answer,
  databaseConflict,
  deleted,
  type FieldErrors,
  forbidden,
  invalidForm,
  json,
  jsonText,
  refuse,
} from './answer.ts';
import {
  administeredMachineOf,
  type Call,
  editableMachineOf,
  type Handler,
  machineOf,
  may,
  requireRight,
} from './call.ts';
import { isMac } from './constraints.ts';
import { findDomain, hostnameProblem } from './domains.ts';
import type { Form } from './form.ts';
import { startCommissioning } from './machine-operations.ts';
import { machineText, viewMachine } from './machine-view.ts';
import { Interfaces } from './network/interfaces.ts';
import { blankMachine, type Machine } from './records.ts';
import type { Region } from './region.ts';
import { noteEffect } from './simulation.ts';

const architectures = ['amd64/generic'] as const;

/** Power types that MAAS 3.6 knows. */
const powerTypes: readonly string[] =
  'amt apc dli eaton fence_cdu hmc hmcz ipmi manual moonshot mscm msftocs nova openbmc proxmox raritan recs_box redfish sm15k ucsm virsh vmware webhook wedge lxd'.split(
    ' ',
  );

/** MAAS' defaults for the parameters of an IPMI machine. */
const ipmiDefaults = {
  power_user: '',
  power_driver: 'LAN_2_0',
  power_address: '',
  power_off_mode: 'hard',
  cipher_suite_id: '3',
  power_boot_type: 'auto',
  privilege_level: 'OPERATOR',
  workaround_flags: ['opensesspriv'],
  k_g: '',
  power_pass: '',
  mac_address: '',
} as const;

const noSuchChoice = 'Select a valid choice. That choice is not one of the available choices.';

/** The host name of a form, and the domain that it names: behind the host name, or by itself. */
function givenNames(region: Region, form: Form): { readonly hostname: string | null; readonly domain: string | null } {
  const [hostname = null, ...behind] = form.text('hostname')?.split('.') ?? [];
  const wanted = form.text('domain');
  const own = wanted === null ? null : (findDomain(region, wanted)?.name ?? null);
  return { hostname, domain: behind.length > 0 ? behind.join('.') : own };
}

function givenPowerParameters(form: Form, type: string): Record<string, unknown> {
  const given: Record<string, unknown> = type === 'ipmi' ? { ...ipmiDefaults } : {};
  const packed = form.text('power_parameters');
  if (packed !== null) {
    try {
      const parsed: unknown = JSON.parse(packed);
      if (parsed !== null && typeof parsed === 'object') Object.assign(given, parsed);
    } catch {
      refuse(invalidForm({ power_parameters: ['Failed to parse JSON power_parameters'] }));
    }
  }
  for (const name of form.names) {
    const key = /^power_parameters_(.+)$/.exec(name)?.[1];
    if (key !== undefined && key !== 'skip_check') given[key] = form.get(name);
  }
  return given;
}

/** Field checks for both creating and changing a machine. */
function commonErrors(region: Region, form: Form, self: Readonly<Machine> | null): Record<string, readonly string[]> {
  const errors: Record<string, readonly string[]> = {};
  const architecture = form.text('architecture');
  if (architecture !== null && !(architectures as readonly string[]).includes(architecture)) {
    const known = architectures.map((name) => `'${name}'`).join(', ');
    errors.architecture = [`'${architecture}' is not a valid architecture.  It should be one of: ${known}.`];
  }
  const domain = form.text('domain');
  if (domain !== null && !findDomain(region, domain)) errors.domain = [`Unable to find domain ${domain}`];
  const name = form.text('hostname');
  const given = givenNames(region, form);
  const problem = name === null ? null : hostnameProblem(name);
  if (problem !== null) errors.hostname = [problem];
  else if (name?.includes('.') && !findDomain(region, given.domain ?? '')) errors.hostname = ['Nonexistant domain.'];
  else if (region.machinesNamed(given.hostname ?? '').some((machine) => machine.id !== self?.id)) {
    errors.hostname = ['Node with this Hostname already exists.'];
  }
  const zone = form.text('zone');
  if (zone !== null && !region.zones.has(zone)) errors.zone = [noSuchChoice];
  const pool = form.text('pool');
  if (pool !== null && !region.poolNamed(pool)) errors.pool = [noSuchChoice];
  const type = form.text('power_type');
  if (type !== null && !powerTypes.includes(type)) {
    errors.power_type = [`Select a valid choice. ${type} is not one of the available choices.`];
  }
  for (const name of ['cpu_count', 'memory']) {
    const value = form.text(name);
    if (value !== null && !/^\d+$/.test(value)) errors[name] = ['Enter a whole number.'];
  }
  return errors;
}

function macErrors(region: Region, macs: readonly string[]): readonly string[] {
  const invalid = macs.filter((mac) => !isMac(mac));
  if (invalid.length > 0) {
    const list = invalid.map((mac) => `'${mac}'`).join(', ');
    return [`One or more MAC addresses is invalid. (${list})`];
  }
  return macs.flatMap((mac) => {
    const holder = region.machineWithMac(mac);
    return holder ? [`MAC address ${mac} already in use on ${holder.hostname}.`] : [];
  });
}

function refuseIfAny(errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
}

/** An administrator's new machine is commissioned unless `commission=false`; that of another user stays New. */
export const createMachine: Handler = (call) => {
  const { form, region, user } = call;
  const errors = commonErrors(region, form, null);
  if (form.text('architecture') === null) errors.architecture = ['This field is required.'];
  const macs = form.words('mac_addresses');
  const inUse = macErrors(region, macs);
  const type = form.text('power_type') ?? 'manual';
  if (inUse.length > 0) errors.mac_addresses = inUse;
  if (type === 'manual' && (macs.length === 0 || inUse.length > 0)) {
    errors.power_type = ["Can't set power type to manual without network interfaces"];
  }
  refuseIfAny(errors);
  const parameters = givenPowerParameters(form, type);
  if (sharesBmc(region, parameters.power_address)) refuse(databaseConflict());

  const id = region.newSystemId();
  const machine = blankMachine({
    id,
    hostname: givenNames(region, form).hostname ?? `machine-${id}`,
    architecture: form.text('architecture') ?? architectures[0],
    powerType: type,
    powerParameters: parameters,
  });
  region.addMachine(machine);
  const interfaces = new Interfaces(region, machine);
  for (const [i, mac] of macs.entries()) interfaces.add({ type: 'physical', name: `eth${i}`, mac });
  interfaces.commit();
  applyFields(call, machine);
  noteEffect(call, machine, null, MachineStatus.New, { what: 'create', user: user.username });
  if (may(user, 'can_edit_machines') && form.flag('deployed')) {
    machine.status = MachineStatus.Deployed;
    machine.owner = user.username;
    noteEffect(call, machine, MachineStatus.New, MachineStatus.Deployed, { what: 'create', user: user.username });
  } else if (may(user, 'can_edit_machines') && (form.text('commission') === null || form.flag('commission'))) {
    return startCommissioning(call, machine);
  }
  return json(viewMachine(region, machine));
};

/** Whether to simulate the conflict of two machines on one BMC address; only if enabled. */
function sharesBmc(region: Region, address: unknown): boolean {
  if (!region.control.bmcConflict || typeof address !== 'string' || address === '') return false;
  for (const other of region.machines.values()) if (other.powerParameters.power_address === address) return true;
  return false;
}

/** Applies the checked fields. */
function applyFields(call: Call, machine: Readonly<Machine>): void {
  const { form, region } = call;
  const row = region.editMachine(machine);
  if (form.has('description')) row.description = form.get('description') ?? '';
  row.zone = form.text('zone') ?? row.zone;
  row.domain = givenNames(region, form).domain ?? row.domain;
  const pool = form.text('pool');
  if (pool !== null) row.pool = region.poolNamed(pool)?.id ?? row.pool;
  row.cpuCount = Number(form.text('cpu_count') ?? row.cpuCount);
  row.memory = Number(form.text('memory') ?? row.memory);
}

export const readMachine: Handler = (call) => jsonText(machineText(call.region, machineOf(call)));

export const updateMachine: Handler = (call) => {
  const machine = editableMachineOf(call);
  requireRight(call, 'can_edit_machines');
  const { form, region } = call;
  const errors = commonErrors(region, form, machine);
  const type = form.text('power_type') ?? machine.powerType;
  if (type === 'manual' && machine.interfaces.length === 0) {
    errors.power_type = ["Can't set power type to manual without network interfaces"];
  }
  refuseIfAny(errors);
  const row = region.editMachine(machine);
  applyFields(call, machine);
  row.architecture = form.text('architecture') ?? row.architecture;
  if (form.names.some((name) => name === 'power_type' || name.startsWith('power_parameters'))) {
    const keep = type === machine.powerType ? machine.powerParameters : {};
    const given = givenPowerParameters(form, type);
    const defaults: Readonly<Record<string, unknown>> = type === 'ipmi' ? ipmiDefaults : {};
    const changed = Object.entries(given).filter(([name, value]) => !(name in keep) || value !== defaults[name]);
    row.powerType = type;
    row.powerParameters = { ...keep, ...Object.fromEntries(changed) };
  }
  const { hostname, domain } = givenNames(region, form);
  region.rename(machine, { hostname: hostname ?? machine.hostname, domain: domain ?? machine.domain });
  return json(viewMachine(region, machine));
};

export const deleteMachine: Handler = (call): Answer => {
  const machine = machineOf(call);
  if (!may(call.user, 'can_edit_machines') || machine.locked) refuse(forbidden());
  const row = call.region.editMachine(machine);
  row.due = null;
  call.schedule(row);
  call.region.deleteMachine(machine);
  noteEffect(call, machine, machine.status, null, { what: 'delete', user: call.user.username });
  return deleted();
};

/** Hardware details are BSON in MAAS; without hardware they are empty. */
export const machineDetails: Handler = (call) => {
  machineOf(call);
  return { ...json(null), type: 'application/bson', body: '\u0005\u0000\u0000\u0000\u0000' };
};

/** The installer's configuration: only enough to identify the machine. */
export const curtinConfig: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const body = `install:\n  log_file: /tmp/install.log\ndebconf_selections:\n  maas: |\n    node ${machine.id}\n`;
  return { ...json(null), type: 'text/plain; charset=utf-8', body };
};

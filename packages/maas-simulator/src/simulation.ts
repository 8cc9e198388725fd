import { MachineStatus, machineStatusName } from '@sitewright/maas/status';
import { conflict, refuse } from './answer.ts';
import type { Clock } from './clock.ts';
import type { eventLevels, Machine, ScriptSet } from './records.ts';
import type { Region } from './region.ts';
import { mayMove } from './transitions.ts';

/** A running region: its data, its clock, and the timers of its machines. */
export interface Simulation {
  readonly region: Region;
  readonly clock: Clock;
  /** Starts, moves or stops the timer of a machine after its `due` has changed. */
  readonly schedule: (machine: Readonly<Machine>) => void;
}

/** The cause of a change, for the list of effects. */
export interface Cause {
  /** An operation (`deploy`), a rack event (`rack:deployed`) or a timer (`auto:deployed`). */
  readonly what: string;
  readonly user: string | null;
}

/**
 * Moves a machine to another state and records the effect. A running phase of the old state ends
 * with it. A move that MAAS' table forbids is refused as in MAAS.
 */
export function move(sim: Simulation, machine: Readonly<Machine>, to: MachineStatus, cause: Cause): void {
  const from = machine.status;
  if (!mayMove(from, to)) {
    refuse(conflict(`Invalid transition: ${machineStatusName(from)} -> ${machineStatusName(to)}.`));
  }
  const row = sim.region.editMachine(machine);
  row.status = to;
  row.due = null;
  sim.schedule(row);
  noteEffect(sim, machine, from, to, cause);
}

export function noteEffect(
  sim: Simulation,
  machine: Readonly<Machine>,
  from: number | null,
  to: number | null,
  cause: Cause,
): void {
  sim.region.effects.add({
    n: sim.region.effects.added + 1,
    at: new Date(sim.clock.now()).toISOString(),
    system_id: machine.id,
    hostname: machine.hostname,
    from,
    to,
    cause: cause.what,
    user: cause.user,
  });
}

/** Adds an event; from level INFO on it is also the machine's `status_message`. */
export function noteEvent(
  sim: Simulation,
  machine: Readonly<Machine>,
  level: keyof typeof eventLevels,
  type: string,
  description = '',
  username = 'unknown',
): void {
  sim.region.events.add({
    id: sim.region.next('event'),
    node: machine.id,
    hostname: machine.hostname,
    level,
    type,
    description,
    username,
    at: sim.clock.now(),
  });
  if (level === 'AUDIT' || level === 'DEBUG') return;
  sim.region.editMachine(machine).statusMessage = description === '' ? type : `${type} - ${description}`;
}

/** Removes the owner of a machine, and the owner's data. */
export function disown(sim: Simulation, machine: Readonly<Machine>): void {
  const none = { owner: null, ownerData: {}, agentName: '', locked: false, userFilesystems: {} };
  Object.assign(sim.region.editMachine(machine), none);
}

/** Adds the event of a user's request, with its comment. */
export function noteRequest(
  sim: Simulation,
  machine: Readonly<Machine>,
  type: string,
  user: string,
  comment: string | null,
): void {
  noteEvent(sim, machine, 'DEBUG', type, comment === null ? `(${user})` : `(${user}) - ${comment}`, user);
}

const scripts: Readonly<Record<ScriptSet['type'], readonly string[]>> = {
  commissioning: [
    '20-maas-01-install-lldpd',
    '20-maas-02-dhcp-unconfigured-ifaces',
    '20-maas-03-machine-resources',
    '30-maas-01-bmc-config',
    '40-maas-01-machine-config-hints',
    '50-maas-01-commissioning',
    'maas-capture-lldpd',
    'maas-get-fruid-api-data',
    'maas-kernel-cmdline',
    'maas-list-modaliases',
    'maas-lshw',
    'maas-serial-ports',
    'maas-support-info',
  ],
  installation: ['/tmp/install.log'],
  testing: ['smartctl-validate'],
  release: ['wipe-disks'],
};

/** Script sets kept for one machine; MAAS keeps ten of each type. */
const setsKept = 40;

export function startScripts(
  sim: Simulation,
  machine: Readonly<Machine>,
  type: ScriptSet['type'],
  names: readonly string[] = scripts[type],
): void {
  const set: ScriptSet = {
    id: sim.region.next('scriptSet'),
    type,
    status: 0,
    started: sim.clock.now(),
    ended: null,
    results: names.map((name) => ({
      id: sim.region.next('scriptResult'),
      name,
      status: 0,
      exitStatus: null,
      output: '',
    })),
  };
  const row = sim.region.editMachine(machine);
  row.scriptSets = [...row.scriptSets, set].slice(-setsKept);
  row.current = { ...row.current, [type]: set.id };
}

/** Ends the newest set of a type: all passed, aborted, or the last script failed with `output`. */
export function endScripts(
  sim: Simulation,
  machine: Readonly<Machine>,
  type: ScriptSet['type'],
  outcome: 'passed' | 'failed' | 'aborted',
  output = '',
): void {
  const id = machine.current[type];
  const row = sim.region.editMachine(machine);
  row.scriptSets = row.scriptSets.map((set) => {
    if (set.id !== id || set.ended !== null) return set;
    const results = set.results.map((result, i) => {
      if (outcome === 'aborted') return { ...result, status: 5, exitStatus: null };
      const fails = outcome === 'failed' && i === set.results.length - 1;
      return fails ? { ...result, status: 3, exitStatus: 1, output } : { ...result, status: 2, exitStatus: 0 };
    });
    return { ...set, results, ended: sim.clock.now(), status: { passed: 2, failed: 3, aborted: 5 }[outcome] };
  });
}

/** True for a machine whose power MAAS can switch and read. */
export const hasBmc = (machine: Readonly<Machine>): boolean =>
  machine.powerType !== 'manual' && machine.powerType !== '';

/** True when power calls would fail because no rack controller reaches the machine's BMC. */
export const isOutOfReach = (sim: Simulation, machine: Readonly<Machine>): boolean =>
  hasBmc(machine) && !sim.region.control.rackUp;

/** The failed state of each running state. */
export const failureOf: Readonly<Partial<Record<number, MachineStatus>>> = {
  [MachineStatus.Commissioning]: MachineStatus.FailedCommissioning,
  [MachineStatus.Deploying]: MachineStatus.FailedDeployment,
  [MachineStatus.Releasing]: MachineStatus.FailedReleasing,
  [MachineStatus.DiskErasing]: MachineStatus.FailedDiskErasing,
  [MachineStatus.EnteringRescueMode]: MachineStatus.FailedEnteringRescueMode,
  [MachineStatus.ExitingRescueMode]: MachineStatus.FailedExitingRescueMode,
  [MachineStatus.Testing]: MachineStatus.FailedTesting,
};

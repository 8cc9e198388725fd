import { MachineStatus, machineStatusName } from '@sitewright/maas/status';
import { type Answer, afterCommit, conflict, json, powerUnavailable } from './answer.ts';
import { beginPhase } from './automation.ts';
import type { Form } from './form.ts';
import { currentScriptStatus, viewMachine } from './machine-view.ts';
import { dropAddresses } from './network/addresses.ts';
import type { Machine } from './records.ts';
import {
  type Cause,
  disown,
  hasBmc,
  isOutOfReach,
  move,
  noteEvent,
  noteRequest,
  type Simulation,
  startScripts,
} from './simulation.ts';
import { mayMove } from './transitions.ts';

const releasable: ReadonlySet<number> = new Set([
  MachineStatus.Reserved,
  MachineStatus.Deployed,
  MachineStatus.Broken,
  MachineStatus.Deploying,
  MachineStatus.Allocated,
  MachineStatus.FailedDeployment,
  MachineStatus.FailedReleasing,
  MachineStatus.FailedDiskErasing,
]);

/** States in which a release is a success without effect. */
const alreadyReleased: ReadonlySet<number> = new Set([MachineStatus.Ready, MachineStatus.Releasing]);

/** The effect of a release on a machine. */
export function releasability(machine: Readonly<Machine>): 'release' | 'nothing' | 'refused' {
  if (alreadyReleased.has(machine.status)) return 'nothing';
  return releasable.has(machine.status) ? 'release' : 'refused';
}

export const cannotRelease = (machine: Readonly<Machine>): Answer =>
  conflict(`Machine cannot be released in its current state ('${machineStatusName(machine.status)}').`);

/** Releases a releasable machine, first erasing its disks on request. */
export function releaseOrErase(sim: Simulation, machine: Readonly<Machine>, form: Form, cause: Cause): Answer {
  const user = cause.user ?? 'unknown';
  const erasesAlways = sim.region.settings.get('enable_disk_erasing_on_release')?.value === true;
  const erase = form.flag('erase') || erasesAlways || form.words('scripts').includes('wipe-disks');
  noteRequest(sim, machine, 'User releasing node', user, form.text('comment'));
  if (erase && mayMove(machine.status, MachineStatus.DiskErasing)) return startErasing(sim, machine, cause);
  return startRelease(sim, machine, cause);
}

const noPower = (sim: Simulation, machine: Readonly<Machine>, user: string, what: string): void =>
  noteEvent(sim, machine, 'WARNING', "Failed to query node's BMC", `(${user}) - ${what}`);

/**
 * Starts disk erasing. If no rack reaches the BMC, the power call fails after the commit and MAAS restores the old
 * state or, if its table does not allow that, leaves the machine in Failed disk erasing.
 */
function startErasing(sim: Simulation, machine: Readonly<Machine>, cause: Cause): Answer {
  const { status: from } = machine;
  const unreachable = powerUnavailable(machine.hostname);
  if (!isOutOfReach(sim, machine)) {
    move(sim, machine, MachineStatus.DiskErasing, cause);
    startScripts(sim, machine, 'release');
    const answer = json(viewMachine(sim.region, machine));
    if (hasBmc(machine)) sim.region.editMachine(machine).powerState = 'on';
    beginPhase(sim, machine);
    return answer;
  }
  const user = cause.user ?? 'unknown';
  if (from === MachineStatus.FailedDiskErasing) {
    const reverting = 'Aborting DISK_ERASING and reverting to FAILED_DISK_ERASING';
    noPower(sim, machine, user, `${reverting}. Unable to power control the node. Please check power credentials.`);
    return afterCommit(unreachable);
  }
  move(sim, machine, MachineStatus.DiskErasing, cause);
  move(sim, machine, MachineStatus.FailedDiskErasing, cause);
  noPower(sim, machine, user, unreachable.body);
  return afterCommit(
    conflict(`Invalid transition: ${machineStatusName(MachineStatus.DiskErasing)} -> ${machineStatusName(from)}.`),
  );
}

/** Properties removed immediately when a machine is released: its system, and the filesystems of its user. */
export function blankSystem(sim: Simulation, machine: Readonly<Machine>): void {
  const none = { osystem: '', distroSeries: '', hweKernel: null, agentName: '', userFilesystems: {} };
  Object.assign(sim.region.editMachine(machine), none);
}

/** Moves a machine to Releasing, and on to the next state when there is no power to wait for. */
export function startRelease(sim: Simulation, machine: Readonly<Machine>, cause: Cause): Answer {
  const row = sim.region.editMachine(machine);
  if (isOutOfReach(sim, machine) && machine.powerState !== 'off') {
    // When the power call fails, the state is restored but the system's fields are not.
    blankSystem(sim, machine);
    const unreachable = powerUnavailable(machine.hostname);
    noPower(sim, machine, cause.user ?? 'unknown', unreachable.body);
    return afterCommit(unreachable);
  }
  move(sim, machine, MachineStatus.Releasing, cause);
  blankSystem(sim, machine);
  noteEvent(sim, machine, 'INFO', 'Releasing');
  if (!hasBmc(machine) || machine.powerState === 'off') {
    finishRelease(sim, machine, cause);
    return json(viewMachine(sim.region, machine));
  }
  const answer = json(viewMachine(sim.region, machine));
  row.powerState = 'unknown';
  beginPhase(sim, machine);
  return answer;
}

/** Ends Releasing: Ready, or New when the machine was never successfully commissioned. */
export function finishRelease(sim: Simulation, machine: Readonly<Machine>, cause: Cause): void {
  const passed = currentScriptStatus(machine, 'commissioning') === 2;
  move(sim, machine, passed ? MachineStatus.Ready : MachineStatus.New, cause);
  clearUse(sim, machine);
  noteEvent(sim, machine, 'INFO', 'Released');
}

/** Clears the fields of an owned machine. */
export function clearUse(sim: Simulation, machine: Readonly<Machine>): void {
  disown(sim, machine);
  Object.assign(sim.region.editMachine(machine), {
    osystem: '',
    distroSeries: '',
    hweKernel: null,
    ephemeral: false,
  });
  dropAddresses(sim, machine);
}

import { MachineStatus } from '@sitewright/maas/status';
import { beginPhase, isAutomatic, phaseOf, takeFailure } from './automation.ts';
import { discoverHardware } from './hardware.ts';
import { dropAddresses } from './network/addresses.ts';
import type { Machine, PowerState } from './records.ts';
import { finishRelease, startRelease } from './release.ts';
import { type Cause, disown, endScripts, failureOf, hasBmc, move, noteEvent, type Simulation } from './simulation.ts';

/** Reports of a rack controller or node about a machine. */
export const rackEvents = [
  'commissioned',
  'deployed',
  'failed',
  'erased',
  'released',
  'rescued',
  'unrescued',
  'tested',
  'on',
  'off',
  'unknown',
  'error',
] as const;
export type RackEvent = (typeof rackEvents)[number];

export const isRackEvent = (name: string): name is RackEvent => (rackEvents as readonly string[]).includes(name);

function setPower(sim: Simulation, machine: Readonly<Machine>, state: PowerState, cause: Cause): void {
  sim.region.editMachine(machine).powerState = state;
  if (state === 'off' && machine.status === MachineStatus.Releasing) finishRelease(sim, machine, cause);
  // Addresses that a broken machine kept are released with its power.
  if (state === 'off' && machine.status === MachineStatus.Broken) dropAddresses(sim, machine);
  // Exiting rescue mode ends when the power matches the earlier state.
  const wanted = machine.previousStatus === MachineStatus.Deployed ? 'on' : 'off';
  if (state === wanted && machine.status === MachineStatus.ExitingRescueMode) leaveRescueMode(sim, machine, cause);
}

function leaveRescueMode(sim: Simulation, machine: Readonly<Machine>, cause: Cause): void {
  const back = machine.previousStatus as MachineStatus;
  move(sim, machine, back, cause);
  // Rescue mode made its caller the owner.
  if (back === MachineStatus.Ready || back === MachineStatus.New) disown(sim, machine);
  noteEvent(sim, machine, 'INFO', 'Exited rescue mode');
}

function fail(sim: Simulation, machine: Readonly<Machine>, comment: string, cause: Cause): void {
  const { status } = machine;
  const to = failureOf[status];
  if (to === undefined) return;
  move(sim, machine, to, cause);
  Object.assign(sim.region.editMachine(machine), { errorDescription: comment, statusAction: 'mark_failed' });
  const type = phaseScripts[phaseOf[status] ?? 'release'];
  if (type) endScripts(sim, machine, type, 'failed', `${comment}\n`);
  noteEvent(sim, machine, 'ERROR', 'Marking node failed', comment);
}

const phaseScripts = {
  commission: 'commissioning',
  deploy: 'installation',
  erase: 'release',
  release: null,
  rescue: null,
  test: 'testing',
} as const;

/**
 * Handles a report about a machine. A report that does not apply to the machine's state is ignored,
 * as in MAAS.
 *
 * @param comment the reason of a failure.
 */
export function takeRackEvent(
  sim: Simulation,
  machine: Readonly<Machine>,
  event: RackEvent,
  comment: string | null,
  cause: Cause,
): void {
  const { status } = machine;
  const row = (): Machine => sim.region.editMachine(machine);
  switch (event) {
    case 'commissioned':
      if (status !== MachineStatus.Commissioning) return;
      endScripts(sim, machine, 'commissioning', 'passed');
      endScripts(sim, machine, 'testing', 'passed');
      move(sim, machine, MachineStatus.Ready, cause);
      disown(sim, machine);
      // Hardware that was found before is found again.
      if (machine.foundNics !== null) discoverHardware(sim, machine);
      return;
    case 'deployed':
      if (status !== MachineStatus.Deploying) return;
      endScripts(sim, machine, 'installation', 'passed');
      noteImageDeployed(sim, machine);
      move(sim, machine, MachineStatus.Deployed, cause);
      noteEvent(sim, machine, 'INFO', 'Deployed');
      return;
    case 'failed':
      fail(sim, machine, comment ?? sim.region.control.automation.failComment, cause);
      return;
    case 'erased':
      if (status !== MachineStatus.DiskErasing) return;
      endScripts(sim, machine, 'release', 'passed');
      startRelease(sim, machine, cause);
      return;
    case 'released':
      if (status === MachineStatus.DiskErasing) {
        endScripts(sim, machine, 'release', 'passed');
        startRelease(sim, machine, cause);
      }
      if (machine.status === MachineStatus.Releasing) {
        if (hasBmc(machine)) row().powerState = 'off';
        finishRelease(sim, machine, cause);
      }
      return;
    case 'rescued':
      if (status !== MachineStatus.EnteringRescueMode) return;
      move(sim, machine, MachineStatus.RescueMode, cause);
      noteEvent(sim, machine, 'INFO', 'Rescue mode');
      return;
    case 'unrescued':
      if (status === MachineStatus.ExitingRescueMode) leaveRescueMode(sim, machine, cause);
      return;
    case 'tested':
      if (status !== MachineStatus.Testing) return;
      endScripts(sim, machine, 'testing', 'passed');
      leaveTesting(sim, machine, cause);
      return;
    case 'on':
    case 'off':
    case 'unknown':
    case 'error':
      setPower(sim, machine, event, cause);
      return;
  }
}

/** Returns to the state before the tests. */
function leaveTesting(sim: Simulation, machine: Readonly<Machine>, cause: Cause): void {
  const back = machine.previousStatus as MachineStatus;
  move(sim, machine, back, cause);
  if (back === MachineStatus.Ready || back === MachineStatus.New) disown(sim, machine);
}

function noteImageDeployed(sim: Simulation, machine: Readonly<Machine>): void {
  const name =
    machine.osystem === 'custom' ? `custom/${machine.distroSeries}` : `${machine.osystem}/${machine.distroSeries}`;
  if (sim.region.images.has(name)) {
    sim.region.images.edit(name).lastDeployed = new Date(sim.clock.now()).toISOString();
  }
  noteEvent(sim, machine, 'DEBUG', 'Node installation', "'curtin' curtin command install");
  noteEvent(sim, machine, 'INFO', 'Image Deployed', `deployed ${name}/${machine.architecture}`);
}

/**
 * Ends an automatic phase: reports what the node would report, with its power. Where machines are containers, they
 * report themselves; the end of a deployment's time is then that of MAAS' patience.
 */
export function endPhase(sim: Simulation & { readonly bootFaults?: unknown }, machine: Readonly<Machine>): void {
  const phase = machine.due?.phase;
  if (phase === undefined || phaseOf[machine.status] !== phase) return;
  const comment = sim.region.control.automation.failComment;
  const report = (event: RackEvent): void =>
    takeRackEvent(sim, machine, event, comment, { what: `auto:${event}`, user: null });
  if (sim.bootFaults !== undefined && phase === 'release') return;
  if (sim.bootFaults !== undefined && phase === 'deploy') {
    const comment = "Node operation 'Deploying' timed out.";
    takeRackEvent(sim, machine, 'failed', comment, { what: 'auto:failed', user: null });
    return;
  }
  if (takeFailure(sim, machine, phase)) {
    report('failed');
    return;
  }
  switch (phase) {
    case 'commission':
      report('commissioned');
      if (sim.region.control.automation.discover && machine.foundNics === null) discoverHardware(sim, machine);
      if (hasBmc(machine)) report('off');
      return;
    case 'deploy':
      if (hasBmc(machine)) report('on');
      report('deployed');
      return;
    case 'erase':
      report('erased');
      return;
    case 'release':
      report('off');
      return;
    case 'rescue':
      if (machine.status === MachineStatus.EnteringRescueMode) report('rescued');
      else report('unrescued');
      return;
    case 'test':
      report('tested');
      return;
  }
}

/** Schedules the end of each running phase when automation is turned on. */
export function beginWaitingPhases(sim: Simulation): void {
  if (!isAutomatic(sim.region.control.automation)) return;
  for (const machine of sim.region.machines.values()) if (machine.due === null) beginPhase(sim, machine);
}

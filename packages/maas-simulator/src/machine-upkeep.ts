import { MachineStatus, machineStatusName } from '@sitewright/maas/status';
import { type Answer, afterCommit, conflict, invalidForm, json, powerUnavailable, refuse } from './answer.ts';
import { beginPhase } from './automation.ts';
import { administeredMachineOf, type Call, type Handler } from './call.ts';
import { viewMachine } from './machine-view.ts';
import type { Machine } from './records.ts';
import { type Cause, disown, hasBmc, isOutOfReach, move, noteEvent, startScripts } from './simulation.ts';
import { scriptErrors } from './test-scripts.ts';
import { mayMove } from './transitions.ts';

const causeOf = (call: Call, what: string): Cause => ({ what, user: call.user.username });
const view = (call: Call, machine: Readonly<Machine>): Answer => json(viewMachine(call.region, machine));

export const overrideFailedTesting: Handler = (call) => {
  const machine = administeredMachineOf(call);
  if (machine.status !== MachineStatus.FailedTesting) {
    refuse(conflict("Unable to override node status. Node is not in 'Failed testing' status."));
  }
  const to = machine.osystem === '' ? MachineStatus.Ready : MachineStatus.Deployed;
  move(call, machine, to, causeOf(call, 'override_failed_testing'));
  const row = call.region.editMachine(machine);
  row.errorDescription = '';
  if (to === MachineStatus.Ready) disown(call, machine);
  return view(call, machine);
};

export const test: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const errors = scriptErrors(call.form);
  const running = machine.status === MachineStatus.Testing || machine.status === MachineStatus.Commissioning;
  if (running || !mayMove(machine.status, MachineStatus.Testing)) {
    errors.__all__ = ['Test is not available because of the current state of the node.'];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
  if (isOutOfReach(call, machine)) refuse(afterCommit(powerUnavailable(machine.hostname)));
  const row = call.region.editMachine(machine);
  // Passed tests return to the state before the first ones.
  if (machine.status !== MachineStatus.FailedTesting) row.previousStatus = machine.status;
  row.owner ??= call.user.username;
  move(call, machine, MachineStatus.Testing, causeOf(call, 'test'));
  const names = call.form.words('testing_scripts');
  startScripts(call, machine, 'testing', names.length > 0 ? names : ['smartctl-validate']);
  noteEvent(call, machine, 'INFO', 'Testing');
  const answer = view(call, machine);
  if (hasBmc(machine)) row.powerState = 'on';
  beginPhase(call, machine);
  return answer;
};

export const rescueMode: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const from = machine.status;
  if (from === MachineStatus.RescueMode || !mayMove(from, MachineStatus.EnteringRescueMode)) {
    const name = machineStatusName(from);
    refuse(conflict(`Invalid transition: ${name} -> ${machineStatusName(MachineStatus.EnteringRescueMode)}.`));
  }
  if (isOutOfReach(call, machine)) refuse(afterCommit(powerUnavailable(machine.hostname)));
  const row = call.region.editMachine(machine);
  if (from !== MachineStatus.FailedEnteringRescueMode && from !== MachineStatus.FailedExitingRescueMode) {
    row.previousStatus = from;
  }
  row.owner ??= call.user.username;
  move(call, machine, MachineStatus.EnteringRescueMode, causeOf(call, 'rescue_mode'));
  noteEvent(call, machine, 'INFO', 'Entering rescue mode');
  const answer = view(call, machine);
  if (hasBmc(machine)) row.powerState = 'on';
  beginPhase(call, machine);
  return answer;
};

export const exitRescueMode: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const from = machine.status;
  if (from === MachineStatus.ExitingRescueMode || !mayMove(from, MachineStatus.ExitingRescueMode)) {
    const name = machineStatusName(from);
    refuse(conflict(`Invalid transition: ${name} -> ${machineStatusName(MachineStatus.ExitingRescueMode)}.`));
  }
  if (isOutOfReach(call, machine)) refuse(afterCommit(powerUnavailable(machine.hostname)));
  move(call, machine, MachineStatus.ExitingRescueMode, causeOf(call, 'exit_rescue_mode'));
  const answer = view(call, machine);
  if (hasBmc(machine)) call.region.editMachine(machine).powerState = 'unknown';
  beginPhase(call, machine);
  return answer;
};

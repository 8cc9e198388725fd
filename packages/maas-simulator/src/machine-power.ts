import { MachineStatus } from '@sitewright/maas/status';
import { afterCommit, conflict, json, powerUnavailable, refuse, serverError } from './answer.ts';
import { isAutomatic } from './automation.ts';
import { administeredMachineOf, editableMachineOf, type Handler, machineOf } from './call.ts';
import { startDeploying } from './machine-operations.ts';
import { viewMachine } from './machine-view.ts';
import type { Machine } from './records.ts';
import { hasBmc, isOutOfReach, noteEvent, type Simulation } from './simulation.ts';

/** Queries the BMC; a manual machine has none, which is an error. */
export const queryPowerState: Handler = (call) => {
  const machine = machineOf(call);
  if (!hasBmc(machine) || isOutOfReach(call, machine)) {
    const answer = powerUnavailable(machine.hostname);
    noteEvent(call, machine, 'WARNING', "Failed to query node's BMC", answer.body);
    return answer;
  }
  return json({ state: machine.powerState });
};

/** On an allocated machine this starts a deployment, as in MAAS. */
export const powerOn: Handler = (call) => {
  const machine = editableMachineOf(call);
  if (machine.owner === null) refuse(conflict("Can't start node: it hasn't been allocated."));
  if (isOutOfReach(call, machine)) {
    if (machine.status === MachineStatus.Allocated) {
      refuse(serverError(`Error determining BMC task queue for machine ${machine.id}`));
    }
    refuse(afterCommit(powerUnavailable(machine.hostname)));
  }
  if (machine.status === MachineStatus.Allocated) return startDeploying(call, machine, 'power_on');
  const answer = json(viewMachine(call.region, machine));
  if (hasBmc(machine)) call.region.editMachine(machine).powerState = 'on';
  return answer;
};

/** `null` for a machine whose power MAAS cannot switch. */
export const powerOff: Handler = (call) => {
  const machine = editableMachineOf(call);
  if (!hasBmc(machine)) return json(null);
  if (isOutOfReach(call, machine)) refuse(afterCommit(powerUnavailable(machine.hostname)));
  const answer = json(viewMachine(call.region, machine));
  call.region.editMachine(machine).powerState = powerAfterOff(call);
  return answer;
};

/** Without automation, the power state changes only by a rack event. */
const powerAfterOff = (sim: Simulation): Machine['powerState'] =>
  isAutomatic(sim.region.control.automation) ? 'off' : 'unknown';

/** Contains secrets, so for administrators only. */
export const powerParameters: Handler = (call) => json(administeredMachineOf(call).powerParameters);

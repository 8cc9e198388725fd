import { type Answer, forbidden, notFound, refuse } from './answer.ts';
import type { Clock } from './clock.ts';
import type { Form } from './form.ts';
import type { Entitlement, User } from './oauth.ts';
import type { Machine } from './records.ts';
import type { Region } from './region.ts';
import { versionTraits } from './versions.ts';

/** One API request on its way through a handler. */
export interface Call {
  readonly region: Region;
  readonly clock: Clock;
  readonly user: User;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly query: Form;
  readonly form: Form;
  readonly isJson: boolean;
  /** The variable parts of the path. */
  readonly parts: readonly string[];
  /** Starts the timer of a machine whose `due` has changed. */
  readonly schedule: (machine: Readonly<Machine>) => void;
}

export type Handler = (call: Call) => Answer;

/** The machine in the path, if visible to the caller. */
export function machineOf(call: Call): Readonly<Machine> {
  const machine = call.region.machines.get(call.parts[0] ?? '');
  if (!machine) refuse(notFound('Machine'));
  if (!maySee(call.user, machine)) refuse(forbidden());
  return machine;
}

/** Whether a user is in a group with that right; before MAAS 3.8 administrators have all rights. */
export const may = (user: User, right: Entitlement): boolean => user.entitlements.includes(right);

/** Every user sees free machines and their own. */
export function maySee(user: User, machine: Readonly<Machine>): boolean {
  return may(user, 'can_edit_machines') || machine.owner === null || machine.owner === user.username;
}

/** For calls that change a machine: it is not locked, and it is free or the caller's, or the caller may edit machines. */
export function editableMachineOf(call: Call): Readonly<Machine> {
  const machine = machineOf(call);
  if (machine.locked) refuse(forbidden());
  return machine;
}

/** For calls of those who may edit machines. */
export function administeredMachineOf(call: Call): Readonly<Machine> {
  const machine = machineOf(call);
  if (!may(call.user, 'can_edit_machines')) refuse(forbidden());
  return machine;
}

/** What names the missing right since MAAS 3.8. Other refusals are as before, mostly empty. */
const NAMES_RIGHTS = /\/(?:tags|zones|groups)\//;

/** Refuses a caller without a right. */
export function requireRight(call: Call, right: Entitlement, body = ''): void {
  if (may(call.user, right)) return;
  const isNamed = versionTraits(call.region.version).hasEntitlements && NAMES_RIGHTS.test(call.path);
  const named = `User does not have permission to perform this operation. The user should have permission '${right}'`;
  refuse(forbidden(isNamed ? named : body));
}

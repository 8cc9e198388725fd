import { type Answer, forbidden, notFound, refuse } from './answer.ts';
import type { Clock } from './clock.ts';
import type { Form } from './form.ts';
import type { User } from './oauth.ts';
import type { Machine } from './records.ts';
import type { Region } from './region.ts';

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

/** Every user sees free machines and their own. */
export function maySee(user: User, machine: Readonly<Machine>): boolean {
  return user.isSuperuser || machine.owner === null || machine.owner === user.username;
}

/** For calls that change a machine: it is not locked, and it is free or the caller's, or the caller is an admin. */
export function editableMachineOf(call: Call): Readonly<Machine> {
  const machine = machineOf(call);
  if (machine.locked) refuse(forbidden());
  return machine;
}

/** For calls of administrators on a machine. */
export function administeredMachineOf(call: Call): Readonly<Machine> {
  const machine = machineOf(call);
  if (!call.user.isSuperuser) refuse(forbidden());
  return machine;
}

/** Refuses a caller who is not an administrator, by default with an empty body. */
export function requireAdmin(call: Call, body = ''): void {
  if (!call.user.isSuperuser) refuse(forbidden(body));
}

import type { MaasClient } from './client.ts';
import { isMaasFailure, MaasError } from './failure.ts';
import type { Machine } from './machine.ts';
import { MachineStatus } from './status.ts';

/** The result of a change that MAAS makes at once. */
interface ConditionResult {
  /** False when nothing had to be sent. */
  readonly changed: boolean;
  /** As read after the change. */
  readonly machine: Machine;
}

/**
 * Locks or unlocks a machine. MAAS answers 409 to a second call, so the machine is read first,
 * and again when the call failed. Safe to repeat.
 * @throws MaasError when the change did not happen.
 */
export function ensureLocked(
  client: MaasClient,
  systemId: string,
  locked: boolean,
  comment?: string,
  signal?: AbortSignal,
): Promise<ConditionResult> {
  const { machines } = client;
  return ensure(
    client,
    systemId,
    (machine) => machine.locked === locked,
    () => (locked ? machines.lock(systemId, comment, signal) : machines.unlock(systemId, comment, signal)),
    signal,
  );
}

/**
 * Marks a machine broken. Only for its owner, and it then has no owner: a second call is 403 in
 * MAAS, and nothing here. Safe to repeat.
 */
export function ensureBroken(
  client: MaasClient,
  systemId: string,
  comment?: string,
  signal?: AbortSignal,
): Promise<ConditionResult> {
  const isBroken = (machine: Machine) => machine.status === MachineStatus.Broken;
  return ensure(client, systemId, isBroken, () => client.machines.markBroken(systemId, comment, signal), signal);
}

/** Marks a broken machine fixed; one that is not broken is left unchanged. Safe to repeat. */
export function ensureFixed(
  client: MaasClient,
  systemId: string,
  comment?: string,
  signal?: AbortSignal,
): Promise<ConditionResult> {
  const isFixed = (machine: Machine) => machine.status !== MachineStatus.Broken;
  return ensure(client, systemId, isFixed, () => client.machines.markFixed(systemId, comment, signal), signal);
}

async function ensure(
  client: MaasClient,
  systemId: string,
  isDone: (machine: Machine) => boolean,
  act: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<ConditionResult> {
  const before = await client.machines.read(systemId, signal);
  if (isDone(before)) return { changed: false, machine: before };
  let failed: MaasError | undefined;
  try {
    await act();
  } catch (error) {
    if (!(error instanceof MaasError) || isMaasFailure(error, 'unauthorised', 'worker-clock', 'unreachable'))
      throw error;
    failed = error;
  }
  const machine = await client.machines.read(systemId, signal);
  if (failed && !isDone(machine)) throw failed;
  return { changed: true, machine };
}

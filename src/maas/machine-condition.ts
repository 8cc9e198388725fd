import type { MaasClient } from './client.js';
import { isMaasFailure, MaasError } from './failure.js';
import type { Machine } from './machine.js';
import { MachineStatus } from './status.js';

/** What became of a wish that MAAS fulfils at once. */
export interface ConditionResult {
  /** False when it was so already and nothing was sent. */
  readonly changed: boolean;
  /** As read afterwards. */
  readonly machine: Machine;
}

/**
 * Locks or unlocks a machine; MAAS answers 409 to whoever does it twice, so the machine is read first,
 * and again when the call failed. Safe to repeat.
 * @throws MaasError when it is not so in the end.
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
 * Marks a machine broken. Only its owner may, and it loses its owner by that: a second call is 403 in
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

/** Marks a broken machine fixed; one that is not broken is left as it is. Safe to repeat. */
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
  isSo: (machine: Machine) => boolean,
  act: () => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<ConditionResult> {
  const before = await client.machines.read(systemId, signal);
  if (isSo(before)) return { changed: false, machine: before };
  let failed: MaasError | undefined;
  try {
    await act();
  } catch (error) {
    if (!(error instanceof MaasError) || isMaasFailure(error, 'unauthorised', 'unreachable')) throw error;
    failed = error;
  }
  const machine = await client.machines.read(systemId, signal);
  if (failed && !isSo(machine)) throw failed;
  return { changed: true, machine };
}

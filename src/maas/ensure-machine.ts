import { MaasError } from './failure.ts';
import { type Machine, summariseMachine } from './machine.ts';
import type { NewMachine } from './machine-calls.ts';
import { type MachineFailure, type MachineOutcome, refused } from './machine-outcome.ts';
import type { MachineContext } from './operation.ts';
import { normalMac } from './resolve-machine.ts';

/**
 * Creates a machine in MAAS, or adopts the one with its MAC: a creation whose answer
 * was lost did create the machine, and a retry would always fail with "already in use".
 */
export async function ensureMachine(
  { client }: Pick<MachineContext, 'client'>,
  wanted: NewMachine,
  signal?: AbortSignal,
): Promise<MachineOutcome> {
  const macs = wanted.macAddresses.map((mac) => normalMac(mac) ?? mac);
  const existing = async () => judge(await client.machines.list({ macAddresses: macs }, signal), wanted);
  const known = await existing();
  if (known) return known;
  try {
    const machine = await client.machines.create({ ...wanted, macAddresses: macs }, signal);
    return { ok: true, machine: summariseMachine(machine), actions: ['create'], warnings: [] };
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    const { failure } = error;
    if (failure.kind !== 'invalid' && !failure.outcomeUnknown) throw error;
    const made = await existing();
    if (made?.ok && failure.outcomeUnknown) return { ...made, actions: ['create'] };
    if (made) return made;
    if (failure.kind !== 'invalid') throw error;
    return { ok: false, failure: refused('create', failure), actions: [], warnings: [] };
  }
}

function judge(machines: readonly Machine[], wanted: NewMachine): MachineOutcome | undefined {
  const [machine] = machines;
  if (!machine) return undefined;
  const fits =
    machines.length === 1 &&
    machine.hostname.toLowerCase() === wanted.hostname.toLowerCase() &&
    (wanted.domain === undefined || machine.domain.toLowerCase() === wanted.domain.toLowerCase());
  if (fits) return { ok: true, machine: summariseMachine(machine), actions: [], warnings: [] };
  const usedBy = machines.map((m) => `${m.fqdn} (${m.systemId})`).join(', ');
  const failure: MachineFailure = {
    kind: 'mac-in-use',
    usedBy,
    message: `a MAC of ${wanted.hostname} (${wanted.macAddresses.join(', ')}) is in use on ${usedBy}`,
    hint: 'correct the MAC, or rename or delete the machine in MAAS',
  };
  return { ok: false, failure, machine: summariseMachine(machine), actions: [], warnings: [] };
}

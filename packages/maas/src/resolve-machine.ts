import type { MaasUser } from './client.ts';
import { isMaasFailure } from './failure.ts';
import { isNamed } from './hostname-lookup.ts';
import type { Machine } from './machine.ts';
import { markerOf } from './machine-hold.ts';
import type { MachineFailure, MachineWarning } from './machine-outcome.ts';
import type { MachineContext } from './operation.ts';

interface ResolveRequest {
  /** The node's name: a hostname, or a full name with its domain. */
  readonly hostname: string;
  /** Finds a machine that MAAS knows by another name, such as one that enlisted itself. */
  readonly bootMac?: string | undefined;
  /** Needed when two domains have the hostname. */
  readonly domain?: string | undefined;
  /** The machine on which a run deployed the node. */
  readonly known?: KnownMachine | undefined;
}

/** The machine of a node as an earlier run has recorded it: it may have another name now. */
export interface KnownMachine {
  readonly systemId: string;
  readonly site: string;
  readonly node: string;
}

/**
 * The machines of a node's name, in any domain; without one, the recorded machine under whatever name, if it still has
 * the marker of the node.
 */
export async function machinesNamed(
  { client, lookup }: Pick<MachineContext, 'client' | 'lookup'>,
  name: string,
  known: KnownMachine | undefined,
  signal?: AbortSignal,
): Promise<readonly Machine[]> {
  const named = await lookup.find(name, signal);
  if (known === undefined || named.some(({ systemId }) => systemId === known.systemId)) return named;
  try {
    const recorded = await client.machines.read(known.systemId, signal);
    const marker = markerOf(recorded);
    const isOfNode = recorded.owner !== null && marker?.site === known.site && marker.node === known.node;
    return isOfNode ? [...named, recorded] : named;
  } catch (error) {
    if (!isMaasFailure(error, 'not-found', 'forbidden')) throw error;
    return named;
  }
}

type Resolution =
  | { readonly ok: true; readonly machine: Machine; readonly warnings: readonly MachineWarning[] }
  | { readonly ok: false; readonly failure: MachineFailure };

/**
 * Finds the machine of a node. Hostnames are unique only per domain, and people change them: keep the
 * `systemId` of the result.
 */
export async function resolveMachine(
  context: Pick<MachineContext, 'client' | 'lookup'>,
  request: ResolveRequest,
  signal?: AbortSignal,
): Promise<Resolution> {
  const { hostname } = request;
  const mac = normalMac(request.bootMac);
  const named = (await machinesNamed(context, hostname, request.known, signal)).filter(
    ({ domain, systemId }) =>
      request.domain === undefined ||
      domain.toLowerCase() === request.domain.toLowerCase() ||
      systemId === request.known?.systemId,
  );
  const machine = named.length === 1 ? named[0] : named.find((m) => mac !== undefined && m.macAddresses.includes(mac));
  if (machine) {
    const known = mac === undefined || machine.macAddresses.length === 0 || machine.macAddresses.includes(mac);
    const message = `${machine.hostname} (${machine.systemId}) has no interface with the boot MAC ${mac}; MAAS knows ${machine.macAddresses.join(', ')}`;
    const renamed = `${machine.fqdn} (${machine.systemId}) is the machine of ${hostname}: it was renamed in MAAS`;
    const isRenamed = machine.systemId === request.known?.systemId && !isNamed(machine, hostname);
    return found(machine, [
      ...(known ? [] : [{ code: 'mac-differs' as const, message }]),
      ...(isRenamed ? [{ code: 'hostname-differs' as const, message: renamed }] : []),
    ]);
  }
  if (named.length > 1) return { ok: false, failure: ambiguous(hostname, named) };
  if (mac !== undefined) {
    const [byMac, ...others] = await context.client.machines.list({ macAddresses: [mac] }, signal);
    if (byMac && others.length === 0) {
      const message = `MAAS knows the machine with MAC ${mac} as ${byMac.fqdn}, not as ${hostname}`;
      return found(byMac, [{ code: 'hostname-differs', message }]);
    }
    if (byMac) return { ok: false, failure: ambiguous(hostname, [byMac, ...others]) };
  }
  const hidden = hiddenFrom(await context.client.user(signal));
  const where = request.domain === undefined ? '' : ` in domain ${request.domain}`;
  return {
    ok: false,
    failure: {
      kind: 'unknown-machine',
      hostname,
      message: `MAAS has no machine named ${hostname}${where}${mac === undefined ? '' : `, and none with MAC ${mac}`}${hidden}`,
      hint:
        hidden === ''
          ? "enlist it (PXE-boot it in MAAS' network, or add it by hand), and give it this hostname"
          : 'use the key of a user who may edit machines, or have it released by whoever holds it; a machine that is not in MAAS is to be enlisted',
    },
  };
}

/** Note on why a user may not see a machine; `''` for one who sees all. */
export const hiddenFrom = ({ username, editsMachines }: MaasUser): string =>
  editsMachines ? '' : ` (${username} may not edit all machines in MAAS, and so cannot see those of other users)`;

const found = (machine: Machine, warnings: readonly MachineWarning[]): Resolution => ({
  ok: true,
  machine,
  warnings,
});

function ambiguous(hostname: string, machines: readonly Machine[]): MachineFailure {
  const candidates = machines.map((machine) => `${machine.fqdn} (${machine.systemId})`).sort();
  return {
    kind: 'ambiguous-hostname',
    candidates,
    message: `${hostname} matches ${machines.length} machines in MAAS: ${candidates.join(', ')}`,
    hint: 'write the full name with its domain, or the boot MAC',
  };
}

/** `52-54-00-AA-00-01` and `52:54:00:aa:00:01` are equal; text that is not a MAC is ignored. */
export function normalMac(text: string | undefined): string | undefined {
  const digits = (text ?? '').trim().toLowerCase().replace(/[:.-]/g, '');
  return /^[0-9a-f]{12}$/.test(digits) ? (digits.match(/../g) ?? []).join(':') : undefined;
}

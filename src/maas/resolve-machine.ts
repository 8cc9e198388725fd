import type { MaasUser } from './client.js';
import type { Machine } from './machine.js';
import type { MachineFailure, MachineWarning } from './machine-outcome.js';
import type { MachineContext } from './operation.js';

interface ResolveRequest {
  /** The node's name: a hostname, or a full name with its domain. */
  readonly hostname: string;
  /** Finds a machine that MAAS knows by another name, such as one that enlisted itself. */
  readonly bootMac?: string | undefined;
  /** Needed when two domains have the hostname. */
  readonly domain?: string | undefined;
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
  const named = (await context.lookup.find(hostname, signal)).filter(
    (machine) => request.domain === undefined || machine.domain.toLowerCase() === request.domain.toLowerCase(),
  );
  const machine = named.length === 1 ? named[0] : named.find((m) => mac !== undefined && m.macAddresses.includes(mac));
  if (machine) {
    const known = mac === undefined || machine.macAddresses.length === 0 || machine.macAddresses.includes(mac);
    const message = `${machine.hostname} (${machine.systemId}) has no interface with the boot MAC ${mac}; MAAS knows ${machine.macAddresses.join(', ')}`;
    return found(machine, known ? [] : [{ code: 'mac-differs', message }]);
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
      hint: "enlist it (PXE-boot it in MAAS' network, or add it by hand), and give it this hostname",
    },
  };
}

/** Note on why a user who is not an administrator may not see a machine; `''` for an administrator. */
export const hiddenFrom = ({ username, isSuperuser }: MaasUser): string =>
  isSuperuser ? '' : ` (${username} is not an administrator and cannot see machines of other users)`;

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

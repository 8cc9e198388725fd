import type { MaasClient, MaasUser, MaasVersion } from './client.ts';
import { missingSeries } from './distro-series.ts';
import { describeFailure, MaasError } from './failure.ts';
import type { Machine } from './machine.ts';
import { machineStatusName } from './status.ts';

/** The result of one check. */
interface MaasFinding {
  readonly check: 'encryption' | 'reachable' | 'api-key' | 'permissions' | 'machines' | 'images';
  readonly ok: boolean;
  /** `warning` when a site can be deployed even if this is not ok. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** The next step; only if not ok. */
  readonly fix?: string;
}

export interface MaasCheck {
  readonly ok: boolean;
  readonly root: string;
  readonly version?: MaasVersion;
  readonly user?: MaasUser;
  /** Machines by state, most first; absent when they could not be listed. */
  readonly machines?: readonly { readonly status: number; readonly name: string; readonly count: number }[];
  readonly findings: readonly MaasFinding[];
}

/** Requirements of deployments on MAAS. */
interface MaasNeeds {
  /** Series named in documents or settings. */
  readonly series?: readonly string[];
  /** Only that MAAS answers, takes the key, and that its user may edit machines: three quick answers where the user may edit all. */
  readonly onlyAccess?: boolean;
}

/**
 * Checks URL, key and permissions, counts the machines by state, and compares the images with those needed.
 * Never throws for answers
 * of MAAS; each finding that is not ok has its fix. Later checks are skipped when an earlier one
 * they depend on has failed.
 */
export async function checkMaas(client: MaasClient, needs: MaasNeeds = {}, signal?: AbortSignal): Promise<MaasCheck> {
  const findings: MaasFinding[] = [];
  const attempt = async <T>(check: MaasFinding['check'], ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof MaasError)) throw error;
      const { hint: fix = 'try again; if it persists, check the logs of the MAAS region', ...failure } = error.failure;
      findings.push({
        check,
        ok: false,
        severity: 'error',
        message: `${describeFailure(failure)}, at ${client.root}`,
        fix,
      });
      return undefined;
    }
  };
  const pass = (check: MaasFinding['check'], message: string) =>
    findings.push({ check, ok: true, severity: 'error', message });
  const result = (more: Partial<MaasCheck>): MaasCheck => ({
    ok: findings.every((finding) => finding.ok || finding.severity === 'warning'),
    root: client.root,
    ...more,
    findings,
  });

  if (!needs.onlyAccess && goesInClear(client.root))
    findings.push({
      check: 'encryption',
      ok: false,
      severity: 'warning',
      message: `requests to ${new URL(client.root).origin} are not encrypted: whoever reads that network has the whole key and the user data of nodes`,
      fix: 'set up TLS in MAAS (`maas config-tls enable`) or a proxy with TLS in front of it, and use its https:// address',
    });
  const version = await attempt('reachable', () => client.version(signal));
  if (!version) return result({});
  pass('reachable', `MAAS ${version.version} answers at ${client.root}`);

  const user = await attempt('api-key', () => client.whoami(signal, { isKeyFinal: true }));
  if (!user) return result({ version });
  pass('api-key', `the key is valid; it belongs to ${user.username}`);
  // One who may not edit all machines may edit some: only the machines tell.
  if (needs.onlyAccess && user.editsMachines) return result({ version, user });

  const listed = await attempt('machines', () => client.machines.list({}, signal));
  const rights = await attempt('permissions', () => rightsOf(client, user, listed ?? [], signal));
  if (rights?.edits === 'none') {
    findings.push({
      check: 'permissions',
      ok: false,
      severity: 'error',
      message: `${user.username} may not edit machines in MAAS: they cannot be commissioned or configured, and those of other users are invisible`,
      fix: 'use the key of an administrator, or give this user the right in MAAS (until 3.7: Settings, Users; since 3.8: a group with can_edit_machines)',
    });
  } else if (rights) {
    const which = rights.edits === 'all' ? 'all machines' : `the machines of ${rights.edits}`;
    pass('permissions', `${user.username} may edit ${which}`);
    if (!rights.editsShared) {
      findings.push({
        check: 'permissions',
        ok: false,
        severity: 'warning',
        message: `${user.username} may not change tags and subnets: runs leave out the tags of documents, with a warning, and fail where they would change a subnet`,
        fix: 'give this user the right in MAAS (can_edit_global_entities) if documents have tags or settings of subnets',
      });
    }
  }
  if (needs.onlyAccess) return result({ version, user });
  const counts = new Map<number, number>();
  for (const machine of listed ?? []) counts.set(machine.status, (counts.get(machine.status) ?? 0) + 1);
  const machines = [...counts]
    .map(([status, count]) => ({ status, name: machineStatusName(status), count }))
    .sort((a, b) => b.count - a.count || a.status - b.status);
  if (listed) {
    const states = machines.map(({ name, count }) => `${count} ${name}`).join(', ');
    pass(
      'machines',
      listed.length === 0
        ? 'MAAS shows no machines to this user'
        : `${listed.length} ${listed.length === 1 ? 'machine' : 'machines'}: ${states}`,
    );
  }

  const images = await attempt('images', () => client.diagnostics.bootResources(signal));
  if (images?.length === 0) {
    const message = 'MAAS has no images: no machine can be commissioned or deployed';
    findings.push({
      check: 'images',
      ok: false,
      severity: 'warning',
      message,
      fix: 'import images in MAAS (Images) and wait until they are synced',
    });
  } else if (images) {
    const names = [...new Set(images.map((image) => image.name))].sort().join(', ');
    const missing = missingSeries(needs.series ?? [], images);
    if (missing.length === 0) pass('images', `images: ${names}`);
    else
      findings.push({
        check: 'images',
        ok: false,
        severity: 'error',
        message: `MAAS has no image for ${missing.join(', ')}, which documents or settings require (it has ${names})`,
        fix: 'import the image in MAAS (Images), or correct distro_series in the documents',
      });
  }
  return result({ version, user, ...(listed ? { machines } : {}) });
}

/** Requests have the whole key. Within this machine no one else reads them. */
function goesInClear(root: string): boolean {
  const { protocol, hostname } = new URL(root);
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Enough to find a pool that the user has a right for, where machines are of few pools. */
const MACHINES_ASKED = 10;

/** What the user may do, asked by what is needed and not by what the account is. */
async function rightsOf(
  client: MaasClient,
  user: MaasUser,
  machines: readonly Machine[],
  signal: AbortSignal | undefined,
): Promise<{
  /** `all`, `none`, or the pools whose machines. */ readonly edits: string;
  readonly editsShared: boolean;
}> {
  const editsShared = await client.mayEditShared(signal);
  if (user.editsMachines) return { edits: 'all', editsShared };
  // The right is one of a resource pool: a machine of each tells.
  const ofPools = [...new Map(machines.map((machine) => [machine.pool, machine])).values()].slice(0, MACHINES_ASKED);
  const answers = await Promise.all(ofPools.map(({ systemId }) => client.mayEditMachine(systemId, signal)));
  const pools = ofPools.filter((_machine, at) => answers[at]).map(({ pool }) => `pool ${pool}`);
  return { edits: pools.length === 0 ? 'none' : pools.join(', '), editsShared };
}

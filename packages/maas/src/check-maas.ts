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
export function checkMaas(client: MaasClient, needs: MaasNeeds = {}, signal?: AbortSignal): Promise<MaasCheck> {
  return new Inspection(client, signal).of(needs);
}

/** The checks of one MAAS, and what they found so far. */
class Inspection {
  readonly #client: MaasClient;
  readonly #signal: AbortSignal | undefined;
  readonly #findings: MaasFinding[] = [];

  constructor(client: MaasClient, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
  }

  async of({ series = [], onlyAccess }: MaasNeeds): Promise<MaasCheck> {
    const client = this.#client;
    if (!onlyAccess) this.#checkEncryption();
    const version = await this.#attempt('reachable', () => client.version(this.#signal));
    if (!version) return this.#result({});
    this.#pass('reachable', `MAAS ${version.version} answers at ${client.root}`);
    const user = await this.#attempt('api-key', () => client.whoami(this.#signal, { isKeyFinal: true }));
    if (!user) return this.#result({ version });
    this.#pass('api-key', `the key is valid; it belongs to ${user.username}`);
    // One who may not edit all machines may edit some: only the machines tell.
    if (onlyAccess && user.editsMachines) return this.#result({ version, user });
    const listed = await this.#attempt('machines', () => client.machines.list({}, this.#signal));
    await this.#checkRights(user, listed ?? []);
    if (onlyAccess) return this.#result({ version, user });
    const machines = listed && this.#count(listed);
    await this.#checkImages(series);
    return this.#result({ version, user, ...(machines && { machines }) });
  }

  /** Undefined if MAAS answers with a problem, which is then a finding. */
  async #attempt<T>(check: MaasFinding['check'], ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof MaasError)) throw error;
      const { hint: fix = 'try again; if it persists, check the logs of the MAAS region', ...failure } = error.failure;
      this.#find('error', check, `${describeFailure(failure)}, at ${this.#client.root}`, fix);
      return undefined;
    }
  }

  #pass(check: MaasFinding['check'], message: string): void {
    this.#findings.push({ check, ok: true, severity: 'error', message });
  }

  #find(severity: MaasFinding['severity'], check: MaasFinding['check'], message: string, fix: string): void {
    this.#findings.push({ check, ok: false, severity, message, fix });
  }

  #result(more: Partial<MaasCheck>): MaasCheck {
    return {
      ok: this.#findings.every((finding) => finding.ok || finding.severity === 'warning'),
      root: this.#client.root,
      ...more,
      findings: this.#findings,
    };
  }

  #checkEncryption(): void {
    const { root } = this.#client;
    if (!goesInClear(root)) return;
    this.#find(
      'warning',
      'encryption',
      `requests to ${new URL(root).origin} are not encrypted: whoever reads that network has the whole key and the user data of nodes`,
      'set up TLS in MAAS (`maas config-tls enable`) or a proxy with TLS in front of it, and use its https:// address',
    );
  }

  async #checkRights(user: MaasUser, listed: readonly Machine[]): Promise<void> {
    const rights = await this.#attempt('permissions', () => rightsOf(this.#client, user, listed, this.#signal));
    if (rights === undefined) return;
    if (rights.edits === 'none') {
      this.#find(
        'error',
        'permissions',
        `${user.username} may not edit machines in MAAS: they cannot be commissioned or configured, and those of other users are invisible`,
        'use the key of an administrator, or give this user the right in MAAS (until 3.7: Settings, Users; since 3.8: a group with can_edit_machines)',
      );
      return;
    }
    const which = rights.edits === 'all' ? 'all machines' : `the machines of ${rights.edits}`;
    this.#pass('permissions', `${user.username} may edit ${which}`);
    if (rights.editsShared) return;
    this.#find(
      'warning',
      'permissions',
      `${user.username} may not change tags and subnets: runs leave out the tags of documents, with a warning, and fail where they would change a subnet`,
      'give this user the right in MAAS (can_edit_global_entities) if documents have tags or settings of subnets',
    );
  }

  #count(listed: readonly Machine[]): NonNullable<MaasCheck['machines']> {
    const counts = new Map<number, number>();
    for (const machine of listed) counts.set(machine.status, (counts.get(machine.status) ?? 0) + 1);
    const machines = [...counts]
      .map(([status, count]) => ({ status, name: machineStatusName(status), count }))
      .sort((a, b) => b.count - a.count || a.status - b.status);
    const states = machines.map(({ name, count }) => `${count} ${name}`).join(', ');
    this.#pass(
      'machines',
      listed.length === 0
        ? 'MAAS shows no machines to this user'
        : `${listed.length} ${listed.length === 1 ? 'machine' : 'machines'}: ${states}`,
    );
    return machines;
  }

  async #checkImages(series: readonly string[]): Promise<void> {
    const images = await this.#attempt('images', () => this.#client.diagnostics.bootResources(this.#signal));
    if (images === undefined) return;
    if (images.length === 0) {
      const message = 'MAAS has no images: no machine can be commissioned or deployed';
      this.#find('warning', 'images', message, 'import images in MAAS (Images) and wait until they are synced');
      return;
    }
    const names = [...new Set(images.map((image) => image.name))].sort().join(', ');
    const missing = missingSeries(series, images);
    if (missing.length === 0) this.#pass('images', `images: ${names}`);
    else
      this.#find(
        'error',
        'images',
        `MAAS has no image for ${missing.join(', ')}, which documents or settings require (it has ${names})`,
        'import the image in MAAS (Images), or correct distro_series in the documents',
      );
  }
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

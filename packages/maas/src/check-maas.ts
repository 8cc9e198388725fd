import type { MaasClient, MaasUser, MaasVersion } from './client.ts';
import { missingSeries } from './distro-series.ts';
import { describeFailure, MaasError } from './failure.ts';
import { machineStatusName } from './status.ts';

/** The result of one check. */
interface MaasFinding {
  readonly check: 'reachable' | 'api-key' | 'permissions' | 'machines' | 'images';
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
  /** Only that MAAS answers, takes the key, and that its user may do all: three quick answers. */
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

  const version = await attempt('reachable', () => client.version(signal));
  if (!version) return result({});
  pass('reachable', `MAAS ${version.version} answers at ${client.root}`);

  const user = await attempt('api-key', () => client.whoami(signal));
  if (!user) return result({ version });
  pass('api-key', `the key is valid; it belongs to ${user.username}`);
  if (user.isSuperuser) {
    pass('permissions', `${user.username} is an administrator`);
  } else {
    findings.push({
      check: 'permissions',
      ok: false,
      severity: 'error',
      message: `${user.username} is not an administrator: machines cannot be commissioned, zones, pools and tags cannot be created, and machines of other users are invisible`,
      fix: 'use the key of an administrator, or make this user an administrator in MAAS (Settings, Users)',
    });
  }

  if (needs.onlyAccess) return result({ version, user });

  const listed = await attempt('machines', () => client.machines.list({}, signal));
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

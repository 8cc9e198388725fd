import { spawn } from 'node:child_process';
import { isGone } from '../../../scripts/process-name.mjs';
import { OWNER, PODMAN_OPTIONS, type Podman } from './podman.js';

/** Removes containers, then networks, of one owner. */
export async function removeAllOf(podman: Podman, owner: string): Promise<void> {
  const filter = ['--filter', `label=${OWNER}=${owner}`];
  const containers = words(await podman('ps', '--all', '--quiet', ...filter));
  if (containers.length > 0) await podman('rm', '--force', '--time', '0', ...containers);
  const networks = words(await podman('network', 'ls', '--quiet', ...filter));
  if (networks.length > 0) await podman('network', 'rm', '--force', ...networks);
}

/**
 * Removes what simulators left that ended without doing so.
 * @returns their processes
 */
export async function removeLeftovers(podman: Podman): Promise<readonly string[]> {
  const label = `{{index .Labels "${OWNER}"}}`;
  const filter = ['--filter', `label=${OWNER}`, '--format', label];
  const owners = new Set([
    ...words(await podman('ps', '--all', ...filter)),
    ...words(await podman('network', 'ls', ...filter)),
  ]);
  const gone = [...owners].filter(isGone);
  for (const owner of gone) await removeAllOf(podman, owner);
  return gone;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/**
 * A process of its own that removes everything of `owner` when this one ends, even by `kill -9`: its standard input
 * closes then.
 */
export function watchForOwnEnd(owner: string): void {
  const podman = ['podman', ...PODMAN_OPTIONS].join(' ');
  const filter = `--filter label=${OWNER}=${owner}`;
  const script = `cat >/dev/null
${podman} ps --all --quiet ${filter} | xargs -r ${podman} rm --force --time 0
${podman} network ls --quiet ${filter} | xargs -r ${podman} network rm --force`;
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.on('error', () => undefined);
  child.unref();
  // The pipe itself must not keep this process running.
  (child.stdin as unknown as { unref(): void }).unref();
}

import { ownerOfNetwork } from './machine-networks.ts';
import { OWNER, PODMAN_OPTIONS, type Podman } from './podman.ts';
import { isGone } from './process-name.ts';
import { runAfterUs } from './run-after-us.ts';

/** Removes containers, then networks, of one owner. */
export async function removeAllOf(podman: Podman, owner: string): Promise<void> {
  const filter = ['--filter', `label=${OWNER}=${owner}`];
  const containers = words(await podman('ps', '--all', '--quiet', ...filter));
  if (containers.length > 0) await podman('rm', '--force', '--time', '0', ...containers);
  const networks = words(await podman('network', 'ls', '--quiet', ...filter));
  if (networks.length > 0) await podman('network', 'rm', '--force', ...networks);
}

/**
 * Removes remains of simulators that were killed.
 * @returns their processes
 */
export async function removeLeftovers(podman: Podman): Promise<readonly string[]> {
  const filter = ['--filter', `label=${OWNER}`, '--format'];
  const networks = words(await podman('network', 'ls', ...filter, '{{.Name}}'));
  const owners = new Set([
    ...words(await podman('ps', '--all', ...filter, `{{index .Labels "${OWNER}"}}`)),
    // Podman shows labels of networks as one text.
    ...networks.flatMap((name) => ownerOfNetwork(name) ?? []),
  ]);
  const gone = [...owners].filter(isGone);
  for (const owner of gone) await removeAllOf(podman, owner);
  return gone;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Removes everything of `owner` when this process has ended, even by `kill -9`. */
export function watchForOwnEnd(owner: string): void {
  const podman = ['podman', ...PODMAN_OPTIONS].join(' ');
  const filter = `--filter label=${OWNER}=${owner}`;
  // Remains of an interrupted removal may disturb the first attempts.
  runAfterUs(`for try in 1 2 3 4 5 6 7 8 9 10; do
  containers=$(${podman} ps --all --quiet ${filter})
  networks=$(${podman} network ls --quiet ${filter})
  [ -n "$containers$networks" ] || exit
  echo $containers | xargs -r ${podman} rm --force --time 0
  echo $networks | xargs -r ${podman} network rm --force
  sleep 1
done`);
}

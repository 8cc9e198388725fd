import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';

const run = promisify(execFile);

/** A build of an earlier commit of this repository. */
export interface PreviousBuild {
  readonly commit: string;
  /** Its tag, or why this commit. */
  readonly name: string;
  readonly folder: string;
}

/**
 * Builds what an installation upgrades from: the last release; without a release, the oldest commit with the packages
 * of today. Kept in the cache by its commit.
 *
 * @param asked a commit, branch or tag instead
 */
export async function previousBuild(root: string, asked?: string): Promise<PreviousBuild> {
  const git = async (...args: string[]): Promise<string> => (await run('git', args, { cwd: root })).stdout.trim();
  const tag = await git('describe', '--tags', '--abbrev=0', '--match', 'v*').catch(() => undefined);
  const [name, from] = asked
    ? [asked, asked]
    : tag !== undefined
      ? [tag, tag]
      : ['the oldest with the packages of today', await git('log', '-1', '--format=%H', '--', 'package-lock.json')];
  const commit = await git('rev-parse', '--verify', `${from}^{commit}`);
  const folder = join(cacheFolder(), 'builds', commit);
  const build = { commit, name, folder };
  if (existsSync(folder)) {
    // The clone that it was built from may have been deleted.
    if ((await lstat(join(folder, 'node_modules'))).isSymbolicLink()) await linkPackages(root, folder);
    return build;
  }
  const half = `${folder}.${process.pid}`;
  await rm(half, { recursive: true, force: true });
  await mkdir(half, { recursive: true });
  await run('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, half], { cwd: root });
  const same = (await packagesOf(root)) === (await packagesOf(half));
  if (same) await linkPackages(root, half);
  else await run('npm', ['ci'], { cwd: half });
  await run('node', ['scripts/build.ts'], { cwd: half });
  await rename(half, folder);
  return build;
}

async function linkPackages(root: string, folder: string): Promise<void> {
  await rm(join(folder, 'node_modules'), { force: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** The locked packages: a release changes only its own version in the lock file. */
async function packagesOf(folder: string): Promise<string> {
  const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  return JSON.stringify({ ...packages, '': { ...packages[''], version: '' } });
}

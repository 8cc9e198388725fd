import { execFile, spawn } from 'node:child_process';
import { access, constants, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PackageDiskError } from './disk.ts';

const run = promisify(execFile);
const compress = promisify(gzip);

/** The index that nodes' package managers need for packages of a kind, and its tool. */
const KINDS = [
  { suffix: '.deb', index: 'Packages.gz', tool: 'dpkg-scanpackages', from: 'dpkg-dev' },
  { suffix: '.rpm', index: 'repodata/repomd.xml', tool: 'createrepo_c', from: 'createrepo-c' },
] as const;
type Kind = (typeof KINDS)[number];

/** Folders named by `repository_path` in the records of a package. */
export function repositoriesOf(tree: unknown): readonly string[] {
  const releases = (tree as { readonly releases?: unknown }).releases;
  const paths = (Array.isArray(releases) ? releases : []).map(
    (one: { readonly repository_path?: unknown } | null) => one?.repository_path,
  );
  return [...new Set(paths.filter((path) => typeof path === 'string'))];
}

/** Repositories that have packages of a kind but no index for them. */
export async function repositoriesWithoutIndex(folder: string, repositories: readonly string[]) {
  const found: string[] = [];
  for (const path of repositories) {
    const names = await namesIn(join(folder, path));
    if (kindsIn(names).some(({ index }) => !names.includes(index))) found.push(path);
  }
  return found;
}

/**
 * Makes the indexes that apt and yum read, with the formats' own tools, in the folders themselves.
 *
 * @returns the indexes that were made, relative to the package
 * @throws PackageDiskError when a tool is missing or fails
 */
export async function indexRepositories(folder: string, repositories: readonly string[]): Promise<readonly string[]> {
  const made: string[] = [];
  for (const path of repositories) {
    const at = join(folder, path);
    for (const kind of kindsIn(await namesIn(at))) {
      await makeIndex(at, kind);
      made.push(join(path, kind.index));
    }
  }
  return made;
}

async function makeIndex(folder: string, { tool, from }: Kind): Promise<void> {
  try {
    if (tool === 'createrepo_c') {
      // Without the time of the build, so that the same packages give the same index.
      await run(tool, ['--quiet', '--revision', '0', '--set-timestamp-to-revision', '.'], { cwd: folder });
      return;
    }
    const { stdout } = await run(tool, ['--multiversion', '.'], { cwd: folder, maxBuffer: 256 * 1024 * 1024 });
    await writeFile(join(folder, 'Packages'), stdout);
    await writeFile(join(folder, 'Packages.gz'), await compress(stdout));
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    throw new PackageDiskError(
      code === 'ENOENT'
        ? `${tool} is not installed, and the repository ${folder} needs it: install ${from}`
        : `${tool} failed in ${folder}: ${(stderr || message).trim().slice(0, 1000)}`,
    );
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder, { recursive: true }).catch(() => []);
}

const kindsIn = (names: readonly string[]): readonly Kind[] =>
  KINDS.filter(({ suffix }) => names.some((name) => name.endsWith(suffix)));

/** The author's script that prepares a package, in its folder. */
const PRE_BUILD_HOOK = 'pre_build_hook';

export const hasPreBuildHook = (folder: string): Promise<boolean> =>
  access(join(folder, PRE_BUILD_HOOK), constants.X_OK).then(
    () => true,
    () => false,
  );

/** Runs the hook; its output goes to this process's standard error. @throws PackageDiskError when it fails */
export async function runPreBuildHook(folder: string): Promise<void> {
  const child = spawn(`./${PRE_BUILD_HOOK}`, { cwd: folder, stdio: ['ignore', 2, 2] });
  const end = await new Promise<string | undefined>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) =>
      resolve(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`),
    );
  });
  if (end !== undefined) throw new PackageDiskError(`${PRE_BUILD_HOOK} failed: ${end}`);
}

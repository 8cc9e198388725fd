import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../src/platform/processes/lock.ts';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';

// Programs of others, as published and not changed by us, in the cache folder; installed by the first who asks.

const run = promisify(execFile);

/** Why tests with it are skipped, as text for people. */
interface NotFound {
  readonly ok: false;
  readonly reason: string;
}

export type FoundPython = { readonly ok: true; readonly python: string } | NotFound;

/** A package of the Python package index, in a virtual environment. `after`: what else its folder needs. */
export async function pythonPackage(
  name: string,
  version: string,
  after: (folder: string) => Promise<void> = async () => undefined,
): Promise<FoundPython> {
  let python: string;
  try {
    const { stdout } = await run('python3', [
      '-c',
      'import sys, venv, ensurepip; print(*sys.version_info[:2], sep=".")',
    ]);
    python = stdout.trim();
  } catch {
    return { ok: false, reason: 'there is no python3 with venv here (Debian: python3-venv)' };
  }
  const found = await installed(`${name}-${version}-python${python}`, name, async (folder) => {
    await run('python3', ['-m', 'venv', folder]);
    const install = ['-m', 'pip', 'install', '--quiet', `${name}==${version}`];
    await run(join(folder, 'bin/python'), install, { timeout: 300_000 });
    await after(folder);
  });
  return found.ok ? { ok: true, python: join(found.folder, 'bin/python') } : found;
}

/** A package of the npm registry with its programs, which are in `folder`/node_modules/.bin. */
export const npmPackage = (name: string, version: string) =>
  installed(`${name.replace(/[@/]+/g, '-').replace(/^-/, '')}-${version}`, name, async (folder) => {
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{"private": true}');
    await run('npm', ['install', '--silent', '--ignore-scripts', `${name}@${version}`], {
      cwd: folder,
      timeout: 300_000,
    });
  });

async function installed(
  called: string,
  name: string,
  install: (folder: string) => Promise<void>,
): Promise<{ readonly ok: true; readonly folder: string } | NotFound> {
  const folder = join(cacheFolder(), called);
  const done = join(folder, '.installed');
  const found = { ok: true, folder } as const;
  if (existsSync(done)) return found;
  await mkdir(cacheFolder(), { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    if (existsSync(done)) return found;
    await rm(folder, { recursive: true, force: true });
    try {
      await install(folder);
    } catch (error) {
      return { ok: false, reason: `${name} cannot be installed: ${(error as Error).message.slice(0, 300)}` };
    }
    await writeFile(done, '');
    return found;
  });
}

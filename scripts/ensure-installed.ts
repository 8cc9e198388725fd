// Runs `npm ci` if node_modules does not match package-lock.json.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../src/platform/processes/lock.ts';

const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** Explains the problem and the next step. Scripts print its message without a stack trace. */
export class SetupError extends Error {}

/** A package in npm's lock file. */
interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
}

interface InstallOptions {
  readonly root?: string;
  readonly report?: (line: string) => void;
}

/** @throws SetupError when `npm ci` fails */
export async function ensureInstalled(options: InstallOptions = {}): Promise<'present' | 'installed'> {
  const root = options.root ?? projectRoot;
  const report = options.report ?? ((line) => console.error(line));
  if ((await installProblem(root)) === undefined) return 'present';
  // Not in node_modules: `npm ci` removes that folder.
  const lock = join(
    tmpdir(),
    `sitewright-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`,
  );
  const onWait = (pid: number) => report(`Another process (${pid}) is installing the packages; waiting for it.`);
  return await withLock(
    lock,
    async () => {
      const problem = await installProblem(root);
      if (problem === undefined) return 'present';
      report(`Installing the locked packages with \`npm ci\` (${problem}); this takes about half a minute …`);
      await npmCi(root);
      const still = await installProblem(root);
      if (still !== undefined)
        throw new SetupError(`\`npm ci\` succeeded, yet ${still}. Remove node_modules and try again.`);
      return 'installed';
    },
    { onWait },
  );
}

/** Compares npm's record of installed packages with the lock file: why an install is needed, or nothing. */
export async function installProblem(root: string): Promise<string | undefined> {
  const { packages: wanted } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  let installed: Record<string, Locked>;
  try {
    installed = JSON.parse(await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages;
  } catch {
    return 'node_modules is missing or was not created by npm';
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = installed[path];
    // npm leaves out optional packages of other platforms.
    if (there === undefined && (entry.optional || entry.devOptional || entry.peer)) continue;
    if (there?.version !== entry.version || there?.integrity !== entry.integrity) {
      return `${path.replace(/^.*node_modules\//, '')} is not at ${entry.version}`;
    }
  }
  return undefined;
}

async function npmCi(root: string): Promise<void> {
  // The callers run under npm, whose settings must not leak into this npm.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_(lifecycle|command|package)/.test(key)),
  );
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // Without npm's warnings: they are about indirect dependencies, and the user cannot do anything about them.
  const child = spawn(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  const code = await new Promise<number | null>((done, fail) => {
    child.on('error', fail);
    child.on('close', done);
  }).catch((error) => {
    throw new SetupError(`npm could not be run (${error.message}). It comes with Node.js: https://nodejs.org.`);
  });
  if (code !== 0) {
    throw new SetupError(
      '`npm ci` failed; see its message above. A common cause: the npm registry cannot be reached (`npm ping` tries it).',
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await ensureInstalled();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

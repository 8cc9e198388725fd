import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../../src/platform/processes/lock.ts';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';

const run = promisify(execFile);

/** The client as people have it: from the Python package index, not changed by us. */
const VERSION = '11.0.0';

/** PyYAML 6 requires a Loader where the client, which is older, names none. */
const SITE_CUSTOMIZE = `import yaml
_load = yaml.load
yaml.load = lambda stream, Loader=yaml.SafeLoader: _load(stream, Loader)
`;

export interface FuelAnswer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface FuelClient {
  /** Runs `fuel2 ARGS`; commands run one after the other. */
  run(...args: readonly string[]): Promise<FuelAnswer>;
  /** Runs `fuel ARGS`, the older client of the same package. */
  runOld(...args: readonly string[]): Promise<FuelAnswer>;
  /** The names of all commands of both, as the package lists them. */
  commands(): Promise<{ readonly fuel2: readonly string[]; readonly fuel: readonly string[] }>;
  close(): Promise<void>;
}

export type FoundFuelClient =
  | { readonly ok: true; readonly python: string }
  /** Why its tests are skipped, as text for people. */
  | { readonly ok: false; readonly reason: string };

/** The client in a virtual environment under the cache folder; installed by the first who asks. */
export async function findFuelClient(): Promise<FoundFuelClient> {
  let version: string;
  try {
    const { stdout } = await run('python3', [
      '-c',
      'import sys, venv, ensurepip; print(*sys.version_info[:2], sep=".")',
    ]);
    version = stdout.trim();
  } catch {
    return { ok: false, reason: 'there is no python3 with venv here (Debian: python3-venv)' };
  }
  const folder = join(cacheFolder(), `fuelclient-${VERSION}-python${version}`);
  const python = join(folder, 'bin/python');
  const done = join(folder, '.installed');
  if (existsSync(done)) return { ok: true, python };
  return withLock(`${folder}.lock`, async (): Promise<FoundFuelClient> => {
    if (existsSync(done)) return { ok: true, python };
    await rm(folder, { recursive: true, force: true });
    await mkdir(cacheFolder(), { recursive: true });
    try {
      await run('python3', ['-m', 'venv', folder]);
      await run(python, ['-m', 'pip', 'install', '--quiet', `python-fuelclient==${VERSION}`], { timeout: 300_000 });
    } catch (error) {
      return {
        ok: false,
        reason: `python-fuelclient ${VERSION} cannot be installed: ${(error as Error).message.slice(0, 300)}`,
      };
    }
    const [lib] = await readdir(join(folder, 'lib'));
    await writeFile(join(folder, 'lib', lib!, 'site-packages/sitecustomize.py'), SITE_CUSTOMIZE);
    await writeFile(done, '');
    return { ok: true, python };
  });
}

/**
 * Starts the client against an API on loopback. `home`: a folder for its settings and its downloads; `login`: what it
 * logs in with.
 */
export function startFuelClient(
  python: string,
  port: number,
  home: string,
  login: { readonly OS_USERNAME?: string; readonly OS_PASSWORD?: string } = {},
): FuelClient {
  const program = fileURLToPath(new URL('fuel-client-runner.py', import.meta.url));
  const child = spawn(python, [program], {
    cwd: home,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      SERVER_ADDRESS: '127.0.0.1',
      SERVER_PORT: String(port),
      COLUMNS: '400',
      LANG: 'C.UTF-8',
      ...login,
    },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let before: Promise<unknown> = Promise.resolve();
  const ask = (words: readonly string[]): Promise<FuelAnswer> => {
    const answer = before.then(async () => {
      child.stdin.write(`${JSON.stringify(words)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the client ended in the middle of: ${words.join(' ')}`);
      return JSON.parse(value) as FuelAnswer;
    });
    before = answer.catch(() => undefined);
    return answer;
  };
  return {
    run: (...args) => ask(['fuel2', ...args]),
    runOld: (...args) => ask(['fuel', ...args]),
    commands: async () => JSON.parse((await ask(['commands'])).out),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

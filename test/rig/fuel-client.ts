import { spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type FoundPython, pythonPackage } from './published-tools.ts';

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

/** The client in a virtual environment under the cache folder; installed by the first who asks. */
export const findFuelClient = (): Promise<FoundPython> =>
  pythonPackage('python-fuelclient', VERSION, async (folder) => {
    const [lib] = await readdir(join(folder, 'lib'));
    await writeFile(join(folder, 'lib', lib!, 'site-packages/sitecustomize.py'), SITE_CUSTOMIZE);
  });

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

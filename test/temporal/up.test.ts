import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { Connection } from '@temporalio/client';
import { afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { freePort } from '../../src/platform/free-port.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import { retentionDays } from '../../src/platform/temporal/retention.ts';
import { cli } from '../unit/cli/recording-terminal.ts';

/** `sitewright up` as a separate process tree: compiled, since five processes would translate the sources each. */
const bin = fileURLToPath(new URL('../../bin/sitewright', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));
const build = fileURLToPath(new URL('../../scripts/build.ts', import.meta.url));

// The processes must run the current code.
beforeAll(() => void execFileSync(process.execPath, [build], { stdio: 'inherit' }), 240_000);

let folder = '';
let tree: Tree | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-up-'));
});
afterEach(async () => {
  await tree?.end();
  tree = undefined;
  rmSync(folder, { recursive: true, force: true });
});

class Tree {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [bin, 'up', ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      createInterface(stream).on('line', (line) => {
        this.#lines.push(line);
        for (const look of this.#waiting) look();
      });
    this.ended = new Promise((done) => this.child.once('close', (code) => done(code)));
  }

  get text(): string {
    return this.#lines.join('\n');
  }

  /** The first group of the pattern in the output; its last occurrence. Waits until it has occurred `times` times. */
  async said(pattern: RegExp, times = 1): Promise<string> {
    const look = (): RegExpExecArray | undefined => {
      const matches = this.#lines.map((line) => pattern.exec(line)).filter((match) => match !== null);
      return matches.length >= times ? matches.at(-1) : undefined;
    };
    const already = look();
    if (already) return already[1] ?? '';
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const match = look();
        if (!match) return;
        this.#waiting.delete(check);
        resolve(match[1] ?? '');
      };
      this.#waiting.add(check);
      void this.ended.then((code) =>
        reject(new Error(`up ended with ${code} before it said ${pattern}:\n${this.text}`)),
      );
    });
  }

  async end(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    await this.ended;
  }
}

/** All processes below one, as the kernel knows them: `[pid, command]`. */
function descendants(of: number): [number, string][] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command: command ?? '' }];
    });
  const below = (parent: number): [number, string][] =>
    rows
      .filter((row) => row.parent === parent)
      .flatMap((row) => [[row.pid, row.command] as [number, string], ...below(row.pid)]);
  return below(of);
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

it('up runs everything, replaces a dead worker, and ends all of it on SIGTERM', async () => {
  const machines = [{ hostname: 'n1', status: 0, power_type: 'ipmi' }];
  writeFileSync(join(folder, 'seed.json'), JSON.stringify({ machines }));
  // What an earlier version left is closed as well.
  mkdirSync(join(folder, '.sitewright', 'earlier'), { recursive: true });
  writeFileSync(join(folder, '.sitewright', 'earlier', 'file'), '');
  const port = await freePort();
  tree = new Tree(['--simulate-maas', '--maas-seed', 'seed.json'], {
    SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    SITEWRIGHT_API_PORT: '0',
    SITEWRIGHT_TEMPORAL_RETENTION_DAYS: '9',
    TEMPORAL_CLI: inject('temporalBinary'),
  });
  await tree.said(/^ {2}Web page +http:\S+\/#token=swt_\S+$/);
  const api = await tree.said(/^ {2}API +(http:\S+)/);
  const pids = descendants(tree.child.pid!);
  // The dev server, MAAS, the API and the worker, each below a watchdog; no agent of `master`.
  expect(pids.filter(([, command]) => command.includes('run-with-parent')).length).toBe(4);
  expect(tree.text).toMatch(/^temporal +dev server started at 127\.0\.0\.1:/m);
  expect(tree.text).toMatch(/^ {2}Temporal UI +http:\/\/127\.0\.0\.1:\d+$/m);
  const connection = await Connection.connect({ address: `127.0.0.1:${port}`, interceptors: [repeatCalls()] });
  expect(await retentionDays(connection, 'default')).toBe(9);
  await connection.close();

  // Nobody else of this machine reads runs in Temporal's database, or what the model of MAAS keeps.
  const kept = join(folder, '.sitewright');
  const all = readdirSync(kept, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
  expect(all).toContain(join(kept, 'temporal.db'));
  expect(all).toContain(join(kept, 'maas.jsonl'));
  const open = [kept, ...all].filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
  expect(open).toEqual([]);

  // The key of its MAAS is by chance.
  expect(readFileSync(join(kept, 'maas-simulator.key'), 'utf8').trim()).not.toBe(simulatorKeys.admin);

  const health = (await (await fetch(`${api}/api/v1/health`)).json()) as { ok: boolean };
  expect(health.ok).toBe(true);
  const token = readFileSync(join(folder, '.sitewright', 'token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}` };
  const check = (await (await fetch(`${api}/api/v1/maas/check`, { headers })).json()) as { machines: unknown };
  expect(check.machines).toEqual([{ status: 0, name: 'New', count: 1 }]);

  const [worker] = pids.find(
    ([, command]) => /main\.js worker$/.test(command) && !command.includes('run-with-parent'),
  )!;
  process.kill(worker, 'SIGKILL');
  await tree.said(/^worker +ended \(SIGKILL\): restarting/);
  await tree.said(/^worker +worker ready/, 2);

  const processes = [...pids, ...descendants(tree.child.pid!)];
  tree.child.kill('SIGTERM');
  expect(await tree.ended).toBe(0);
  expect(tree.text).toMatch(/everything has stopped$/);
  expect(processes.filter(([pid]) => isAlive(pid))).toEqual([]);
});

it('up is for its user alone: its command line and its link have the token, others and its successor on the port get none', async () => {
  const port = await freePort();
  const env = { SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'), SITEWRIGHT_API_PORT: String(port) };
  tree = new Tree([], env);
  const link = await tree.said(/^ {2}Web page +(\S+)$/);
  const api = `http://127.0.0.1:${port}`;
  expect((await fetch(`${api}/api/v1/sites`)).status).toBe(401);
  const file = join(folder, '.sitewright', 'token');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const token = readFileSync(file, 'utf8').trim();
  expect(link).toBe(`${api}/#token=${token}`);

  // Nothing has to be typed, in the folder of `up` and below it.
  const typed = { ...env, SITEWRIGHT_API: api, HOME: folder, USER: 'someone' };
  mkdirSync(join(folder, 'below'));
  for (const cwd of [folder, join(folder, 'below')])
    expect(await cli(['site', 'list'], { env: typed, cwd })).toMatchObject({ code: 0 });
  expect(await cli(['site', 'list'], { env: typed, cwd: tmpdir() })).toMatchObject({ code: 6 });
  // The next start keeps it.
  await tree.end();
  tree = new Tree([], env);
  expect(await tree.said(/^ {2}Web page +(\S+)$/)).toBe(link);
  await tree.end();

  const seen: unknown[] = [];
  const successor = createHttpServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  await new Promise<void>((done) => successor.listen(port, '127.0.0.1', done));
  await cli(['site', 'list'], { env: typed, cwd: folder });
  successor.close();
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter((one) => one !== undefined)).toEqual([]);
});

it.each([
  ['by an option', ['--no-token'], {}],
  ['by the settings', [], { SITEWRIGHT_ACCESS_TOKENS: 'off' }],
])('up asks for no token if it is told so, %s, and says what that opens', async (_how, args, more) => {
  const env = { SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'), SITEWRIGHT_API_PORT: '0', ...more };
  tree = new Tree(args, env);
  const api = await tree.said(/^ {2}API +(http:\S+)/);
  await tree.said(/^warning +tokens are off: (.*)/);
  expect((await fetch(`${api}/api/v1/sites`)).status).toBe(200);
  expect(existsSync(join(folder, '.sitewright', 'token'))).toBe(false);
});

const ATTACK = `- id: look
  type: shell
  version: 2.1.0
  roles: [master]
  parameters:
    cmd: 'id -u; tr "\\0" "\\n" </proc/$PPID/environ'
    timeout: 30
`;

it('up runs an agent of master for its user where agent.master allows it, enrolled and with a listed environment', async () => {
  const api = await freePort();
  const env = {
    SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
    SITEWRIGHT_API_PORT: String(api),
    SITEWRIGHT_AGENT_MASTER: 'allow',
  };
  tree = new Tree([], { ...env, SW_SECRET_OF_ANOTHER: 'topsecret', SITEWRIGHT_TEMPORAL_PREFIX: 'upmaster' });
  await tree.said(/^ {2}API +(http:\S+)/);
  const agents = descendants(tree.child.pid!).filter(([, command]) => /main\.js agent serve/.test(command));
  const own = agents.filter(([, command]) => !command.includes('run-with-parent'));
  expect(own).toHaveLength(1);
  const master = join(folder, '.sitewright', 'master');
  expect(statSync(master).mode & 0o777).toBe(0o700);
  expect(readdirSync(master).sort()).toEqual(['credentials.json', 'journal']);
  const names = readFileSync(`/proc/${own[0]![0]}/environ`, 'utf8').split('\0').filter(Boolean);
  const listed = /^(?:PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|SITEWRIGHT_(?:AGENT|LOG)_\w+)=/;
  expect(names.filter((line) => !listed.test(line))).toEqual([]);

  writeFileSync(join(folder, 'look.yaml'), ATTACK);
  const typed = { ...env, SITEWRIGHT_API: `http://127.0.0.1:${api}`, HOME: folder, USER: 'someone' };
  const done = async (...line: string[]) => {
    const end = await cli(line, { env: typed, cwd: folder });
    if (end.code !== 0) throw new Error(`${line.join(' ')}: ${JSON.stringify(end)}`);
    return end.out;
  };
  await done('package', 'install', join(root, 'examples/first-release'));
  await done('cluster', 'create', 'lab', '--release', 'first-release');
  await done('graph', 'upload', '--cluster', 'lab', '--type', 'look', '--file', 'look.yaml');
  await done('graph', 'execute', '--cluster', 'lab', '--type', 'look', '--wait');
  const said = await done('run', 'logs', '1', 'look@master');
  expect(said).toMatch(new RegExp(`^${process.getuid!()}\n(?:[A-Z_]+=.*\n)*PATH=`, 'm'));
  expect(said).not.toContain('topsecret');
});

it('up that is killed leaves no process behind', async () => {
  tree = new Tree(['--simulate-maas'], {
    SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
    SITEWRIGHT_API_PORT: '0',
  });
  await tree.said(/^maas +MAAS simulator +(\S+)/);
  await Promise.all([tree.said(/^api +API ready/), tree.said(/^worker +worker ready/)]);
  expect(tree.text).toMatch(/^temporal +Temporal .* answers at/m);
  const pids = descendants(tree.child.pid!);
  expect(pids.length).toBe(6);
  tree.child.kill('SIGKILL');
  await expect.poll(() => pids.filter(([pid]) => isAlive(pid))).toEqual([]);
});

it.each([
  ['no server answers and none may be started', '127.0.0.1:9', ['--no-temporal'], /omit --no-temporal/],
  ['the server is on another machine', '192.0.2.1:7233', [], /can only run on this machine/],
])('up reports why it cannot start: %s', async (_why, address, args, hint) => {
  const { code, err } = await cli(['up', ...args], {
    env: { SITEWRIGHT_TEMPORAL_ADDRESS: address, SITEWRIGHT_API_PORT: '0' },
    cwd: folder,
  });
  expect(code).toBe(5);
  expect(err).toMatch(hint);
});

it('up gives up on a part that never starts, and leaves nothing behind', async () => {
  tree = new Tree([], {
    SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
    SITEWRIGHT_API_PORT: '0',
    SITEWRIGHT_STORE_URL: `sqlite:${bin}/of-a-file.db`,
  });
  expect(await tree.ended).toBe(5);
  expect(tree.text).toMatch(/error: (api|worker) does not start: .*/);
  expect(tree.text).toMatch(/everything has stopped/);
  expect(readdirSync(join(folder, '.sitewright'))).not.toContain('up.lock');
});

it('a second system is refused before it starts anything: the port of the API is taken', async () => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
  const { port } = taken.address() as { port: number };
  const env = { SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'), SITEWRIGHT_API_PORT: String(port) };
  const { code, out, err } = await cli(['up'], { env, cwd: folder });
  taken.close();
  expect(code).toBe(4);
  expect(err).toMatch(new RegExp(`already listens on 127\\.0\\.0\\.1:${port}`));
  expect(out).toBe('');
  expect(readdirSync(folder)).toEqual([]);
});

it('a second system in the same folder is refused, and the lock of a dead one is not', async () => {
  mkdirSync(join(folder, '.sitewright'));
  const lock = join(folder, '.sitewright', 'up.lock');
  writeFileSync(lock, JSON.stringify({ pid: process.pid, host: hostname() }));
  const env = { SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9', SITEWRIGHT_API_PORT: '0' };
  const held = await cli(['up', '--no-temporal'], { env, cwd: folder });
  expect(held.code).toBe(4);
  expect(held.err).toContain(`another 'sitewright up' (process ${process.pid})`);

  const dead = spawnSync(process.execPath, ['--eval', '']).pid;
  writeFileSync(lock, JSON.stringify({ pid: dead, host: hostname() }));
  const free = await cli(['up', '--no-temporal'], { env, cwd: folder });
  expect(free.err).toMatch(/omit --no-temporal/);
  expect(existsSync(lock)).toBe(false);
});

it.each([
  ['a seed without a model of MAAS', ['--maas-seed', 'x'], /Add --simulate-maas/],
  ['a seed that is not there', ['--simulate-maas', '--maas-seed', 'nowhere'], /nowhere does not exist/],
])('up reports wrong use before anything starts: %s', async (_what, args, said) => {
  const env = { SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9', SITEWRIGHT_API_PORT: '0' };
  const { code, out, err } = await cli(['up', ...args], { env, cwd: folder });
  expect(code).toBe(2);
  expect(err).toMatch(said);
  expect(out).toBe('');
});

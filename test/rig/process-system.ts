import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Effect, simulatorKeys } from '@sitewright/maas-simulator';
import { issueTicket } from '../../src/gateway/index.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { startDevServer } from '../../src/platform/temporal/dev-server.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { TcpProxy } from './tcp-proxy.ts';

const BUILD = fileURLToPath(new URL('../../scripts/build.ts', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/sitewright', import.meta.url));

export type Target = 'worker' | 'api' | 'maas' | 'gateway' | 'temporal' | `agent-${string}`;

/** The parts of an installation as separate processes, to be killed. */
export interface ProcessSystem {
  readonly apiUrl: string;
  readonly temporalAddress: string;
  /** The processes that can be killed. */
  readonly targets: readonly Target[];
  /** Between the other processes and the simulator. */
  readonly maasCable: TcpProxy;
  post(path: string, body: unknown): Promise<unknown>;
  get(path: string): Promise<unknown>;
  kill(target: Target): Promise<void>;
  /** @param waits until it answers */
  restart(target: Target, waits?: boolean): Promise<void>;
  /** A moment of a run that the test picked: the run continues meanwhile. */
  after(ms: number): Promise<void>;
  /** Times each host really entered a status. */
  entered(status: number): Promise<Record<string, number>>;
  /** Kills all writers to the store or Temporal's database, copies both and the gateway's folder, starts all again. */
  backUp(): Promise<Backup>;
  /** The log of a process, for a failing test. */
  log(target: Target): Promise<string>;
  stop(): Promise<void>;
}

export interface Backup {
  /** Restores the copies; agents and MAAS continue in their current state. */
  restore(): Promise<void>;
}

export interface SystemOptions {
  /** Hosts of the simulated MAAS. */
  readonly hosts: readonly string[];
  readonly commissionMs: number;
  readonly deployMs: number;
  /** Temporal's CLI. */
  readonly binary: string;
  /** Prepares the store, and names nodes whose agents enrol at the gateway. */
  readonly nodes: (store: Store) => Promise<{ readonly site: string; readonly nodes: readonly string[] }>;
}

/** The writers to the store or to Temporal's database. */
const WRITERS: readonly Target[] = ['worker', 'api', 'gateway', 'temporal'];

export async function processSystem(options: SystemOptions): Promise<ProcessSystem> {
  // The killed processes must run the current code; a tenth of a second when nothing changed.
  await promisify(execFile)(process.execPath, [BUILD]);
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-processes-'));
  const at = (name: string) => join(folder, name);
  const [apiPort, maasPort, gatewayPort] = [await freePort(), await freePort(), await freePort()];
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const control = `http://127.0.0.1:${maasPort}/_control`;
  const auto = { commission_ms: options.commissionMs, deploy_ms: options.deployMs, release_ms: 200 };
  const seed = { machines: options.hosts.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' })) };
  await writeFile(at('seed.json'), JSON.stringify(seed));
  const maasCable = await TcpProxy.open(`127.0.0.1:${maasPort}`);
  mkdirSync(at('data'));

  const serverOptions = {
    binary: options.binary,
    databaseFile: at('data/temporal.db'),
    logFile: at('temporal.log'),
    uiPort: 'none',
  } as const;
  let server = await startDevServer(serverOptions);
  const { address: temporalAddress } = server;

  const gatewayUrl = `https://127.0.0.1:${gatewayPort}`;
  const env = {
    ...process.env,
    NO_COLOR: '1',
    SITEWRIGHT_TEMPORAL_ADDRESS: temporalAddress,
    SITEWRIGHT_TEMPORAL_TASK_QUEUE: `kills-${process.pid}-${apiPort}`,
    SITEWRIGHT_STORE_URL: `sqlite:${at('data/store.db')}`,
    SITEWRIGHT_MAAS_URL: `http://${maasCable.address}/MAAS`,
    SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
    SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.2',
    SITEWRIGHT_MAAS_POLL_MAX_SECONDS: '1',
    SITEWRIGHT_DEPLOY_HEARTBEAT_SECONDS: '2',
    SITEWRIGHT_API_PORT: String(apiPort),
    SITEWRIGHT_LOG_LEVEL: 'info',
    SITEWRIGHT_TASK_LOGS_FOLDER: at('task-logs'),
    SITEWRIGHT_AGENT_STATE_DIR: at('agents'),
    SITEWRIGHT_GATEWAY_DATA_DIR: at('data/gateway'),
  };
  const gatewayEnv = {
    SITEWRIGHT_GATEWAY_HOST: '127.0.0.1',
    SITEWRIGHT_GATEWAY_PORT: String(gatewayPort),
    SITEWRIGHT_GATEWAY_URL: gatewayUrl,
  };

  const files = ['--state', at('maas.state'), '--seed', at('seed.json')];
  const commands = new Map<Target, readonly string[]>([
    ['maas', ['maas', 'simulate', '--port', String(maasPort), ...files, '--auto', JSON.stringify(auto)]],
    ['api', ['api']],
    ['worker', ['worker']],
  ]);
  const store = await openStore(env.SITEWRIGHT_STORE_URL);
  const { site, nodes } = await options.nodes(store);
  commands.set('gateway', ['gateway']);
  for (const node of nodes) {
    const own = at(`node-${node}`);
    mkdirSync(own, { mode: 0o700 });
    const identities = store.nodeIdentities;
    const ticket = await issueTicket(
      { dataDir: env.SITEWRIGHT_GATEWAY_DATA_DIR, gatewayUrl, identities, tokenHours: 24 },
      site,
      node,
    );
    await writeFile(join(own, 'ticket.json'), JSON.stringify(ticket), { mode: 0o600 });
    commands.set(`agent-${node}`, ['agent', 'serve', '--folder', own]);
  }
  await store.close();
  const targets: readonly Target[] = [...commands.keys(), 'temporal'];
  const processes = new Map<Target, ChildProcess>();

  const start = (target: Target): void => {
    const log = openSync(at(`${target}.log`), 'a');
    const more = target === 'gateway' ? gatewayEnv : {};
    processes.set(
      target,
      spawn(process.execPath, [BIN, ...commands.get(target)!], {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ['ignore', log, log],
      }),
    );
  };
  const kill = async (target: Target): Promise<void> => {
    if (target === 'temporal') {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
      return;
    }
    const child = processes.get(target);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await gone;
  };
  /** Polls until the process answers: there is no other sign that it is up. */
  const answers = async (target: Target, url: string): Promise<void> => {
    for (;;) {
      const child = processes.get(target)!;
      if (child.exitCode !== null)
        throw new Error(`${target} ended with ${child.exitCode}:\n${await readFile(at(`${target}.log`), 'utf8')}`);
      // A kill by someone else, who waits for the next one.
      if (child.signalCode !== null) return;
      const up = await fetch(url).then(
        () => true,
        () => false,
      );
      if (up) return;
      await pause(50);
    }
  };
  const ready = async (target: Target): Promise<void> => {
    if (target === 'api') await answers(target, `${apiUrl}/api/v1/version`);
    if (target === 'maas') await answers(target, `http://127.0.0.1:${maasPort}/MAAS/api/2.0/version/`);
  };
  const restart = async (target: Target, waits = true): Promise<void> => {
    if (target === 'temporal') {
      server = await startDevServer({ ...serverOptions, port: Number(temporalAddress.split(':')[1]) });
      return;
    }
    start(target);
    if (waits) await ready(target);
  };
  /** Kills the writers, does the work and starts them again. */
  const withoutWriters = async (work: () => void): Promise<void> => {
    await Promise.all(WRITERS.map(kill));
    work();
    await Promise.all(WRITERS.map((target) => restart(target)));
  };
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  for (const target of commands.keys()) start(target);
  await ready('maas');
  await ready('api');
  let backups = 0;
  return {
    apiUrl,
    temporalAddress,
    targets,
    maasCable,
    post: (path, body) => call('POST', path, body),
    get: (path) => call('GET', path),
    kill,
    restart,
    after: pause,
    async entered(status) {
      const answer = (await (await fetch(`${control}/effects`)).json()) as Effect[] | { effects: Effect[] };
      const counts: Record<string, number> = {};
      for (const effect of Array.isArray(answer) ? answer : answer.effects) {
        if (effect.to === status && effect.from !== status && effect.cause !== 'seed')
          counts[effect.hostname] = (counts[effect.hostname] ?? 0) + 1;
      }
      return counts;
    },
    async backUp() {
      const copy = at(`backup-${++backups}`);
      // A running server's note and lock are not data.
      const filter = (file: string) => !/\.(lock|server\.json)$/.test(file);
      await withoutWriters(() => cpSync(at('data'), copy, { recursive: true, filter }));
      return {
        restore: () =>
          withoutWriters(() => {
            rmSync(at('data'), { recursive: true });
            cpSync(copy, at('data'), { recursive: true });
          }),
      };
    },
    log: (target) => readFile(at(`${target}.log`), 'utf8'),
    async stop() {
      await Promise.all(targets.map(kill));
      await maasCable.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

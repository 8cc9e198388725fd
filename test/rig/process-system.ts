import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { RunReport } from '../../src/core/site-run/index.js';
import { type Effect, simulatorKeys } from '../../src/maas-simulator/index.js';
import { freePort } from './free-port.js';

const BUILD = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/sitewright', import.meta.url));

export type Target = 'worker' | 'api' | 'maas';

/** Worker, API and MAAS simulator as processes of their own, to be killed. Temporal's server is the shared one. */
export interface ProcessSystem {
  readonly apiUrl: string;
  /** Machines as they were at first. */
  reset(): Promise<void>;
  post(path: string, body: unknown): Promise<unknown>;
  get(path: string): Promise<unknown>;
  kill(target: Target): Promise<void>;
  restart(target: Target): Promise<void>;
  /** A moment of a run that the test picked: the run goes on meanwhile. */
  after(ms: number): Promise<void>;
  /** The report of a run once it has ended; outages of the API are waited out. */
  finished(run: string): Promise<RunReport>;
  /** Times each host really entered a status. */
  entered(status: number): Promise<Record<string, number>>;
  /** What a process has logged, for a failing test. */
  log(target: Target): Promise<string>;
  stop(): Promise<void>;
}

export async function processSystem(options: {
  readonly hosts: readonly string[];
  readonly commissionMs: number;
  readonly deployMs: number;
}): Promise<ProcessSystem> {
  // What is killed shall be the code as it stands; a tenth of a second when nothing changed.
  await promisify(execFile)(process.execPath, [BUILD]);
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-processes-'));
  const [apiPort, maasPort] = [await freePort(), await freePort()];
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const control = `http://127.0.0.1:${maasPort}/_control`;
  const auto = { commission_ms: options.commissionMs, deploy_ms: options.deployMs, release_ms: 200 };
  const seed = { machines: options.hosts.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' })) };
  await writeFile(join(folder, 'seed.json'), JSON.stringify(seed));
  const env = {
    ...process.env,
    NO_COLOR: '1',
    SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
    SITEWRIGHT_TEMPORAL_TASK_QUEUE: `kills-${process.pid}-${apiPort}`,
    SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'store.db')}`,
    SITEWRIGHT_MAAS_URL: `http://127.0.0.1:${maasPort}/MAAS`,
    SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
    SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.2',
    SITEWRIGHT_DEPLOY_HEARTBEAT_SECONDS: '2',
    SITEWRIGHT_API_PORT: String(apiPort),
    SITEWRIGHT_LOG_LEVEL: 'info',
  };
  const commands: Record<Target, readonly string[]> = {
    worker: ['worker'],
    api: ['api'],
    maas: [
      'maas',
      'simulate',
      '--port',
      String(maasPort),
      '--state',
      join(folder, 'maas.state'),
      '--seed',
      join(folder, 'seed.json'),
      '--auto',
      JSON.stringify(auto),
    ],
  };
  const processes = new Map<Target, ChildProcess>();

  const start = (target: Target): void => {
    const log = openSync(join(folder, `${target}.log`), 'a');
    processes.set(
      target,
      spawn(process.execPath, [BIN, ...commands[target]], { cwd: folder, env, stdio: ['ignore', log, log] }),
    );
  };
  const kill = async (target: Target): Promise<void> => {
    const child = processes.get(target);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await gone;
  };
  /** Asks until the process answers: there is no other sign that it is up. */
  const answers = async (target: Target, url: string): Promise<void> => {
    for (;;) {
      const child = processes.get(target)!;
      if (child.exitCode !== null)
        throw new Error(
          `${target} ended with ${child.exitCode}:\n${await readFile(join(folder, `${target}.log`), 'utf8')}`,
        );
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
  const instruct = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${control}/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };

  for (const target of ['maas', 'api', 'worker'] as const) start(target);
  await ready('maas');
  await ready('api');
  return {
    apiUrl,
    async reset() {
      await instruct('reset', {});
      await instruct('seed', seed);
      await instruct('auto', auto);
    },
    post: (path, body) => call('POST', path, body),
    get: (path) => call('GET', path),
    kill,
    async restart(target) {
      start(target);
      await ready(target);
    },
    after: pause,
    async finished(run) {
      for (;;) {
        const view = (await call('GET', `/api/v1/runs/${run}`).catch(() => null)) as { outcome: string | null } | null;
        if (view?.outcome) return (await call('GET', `/api/v1/runs/${run}/report`)) as RunReport;
        await pause(100);
      }
    },
    async entered(status) {
      const answer = (await (await fetch(`${control}/effects`)).json()) as Effect[] | { effects: Effect[] };
      const counts: Record<string, number> = {};
      for (const effect of Array.isArray(answer) ? answer : answer.effects) {
        if (effect.to === status && effect.from !== status && effect.cause !== 'seed')
          counts[effect.hostname] = (counts[effect.hostname] ?? 0) + 1;
      }
      return counts;
    },
    log: (target) => readFile(join(folder, `${target}.log`), 'utf8'),
    async stop() {
      await Promise.all([...processes.keys()].map(kill));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

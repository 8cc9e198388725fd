import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { openStore } from '../../src/store/index.ts';
import { exampleHosts } from '../rig/living-site.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../rig/postgres.ts';
import { TcpProxy } from '../rig/tcp-proxy.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';

const bin = fileURLToPath(new URL('../../bin/sitewright', import.meta.url));
const build = fileURLToPath(new URL('../../scripts/build.ts', import.meta.url));
const documents = fileURLToPath(new URL('../../examples/stl1', import.meta.url));
/** Temporal alone lists the runs of the whole namespace, those of other tests included. */
const site = 'store-away';
const unavailable = await whyNoPostgres();

/** A process of ours, and its output. */
class Program {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #looks = new Set<() => void>();
  readonly ended: Promise<unknown[]>;

  constructor(args: readonly string[], folder: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [bin, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      createInterface(stream).on('line', (line) => {
        this.#lines.push(line);
        for (const look of this.#looks) look();
      });
    this.ended = once(this.#child, 'close');
  }

  says(pattern: RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!this.#lines.some((line) => pattern.test(line))) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
      void this.ended.then(() => reject(new Error(`it ended before it said ${pattern}:\n${this.#lines.join('\n')}`)));
    });
  }

  terminate(): Promise<unknown[]> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}

describe.skipIf(unavailable !== undefined)('while PostgreSQL is unreachable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-store-away-'));
  let postgres: PostgresServer;
  let directUrl: string;
  /** Between our processes and their servers. */
  let toStore: TcpProxy;
  let toTemporal: TcpProxy;
  let simulator: Simulator;
  let env: NodeJS.ProcessEnv;
  const programs: Program[] = [];
  const start = (...args: string[]): Program => {
    const program = new Program(args, folder, env);
    programs.push(program);
    return program;
  };
  const cli = async (...args: string[]) => {
    const terminal = recordingTerminal({ env, cwd: folder });
    const code = await runCli(args, terminal);
    return { code, ...terminal.said };
  };
  /** Requests that may be repeated: on a loaded machine, a worker may take longer to answer than the API waits. */
  const done = async (...args: string[]): Promise<string> => {
    for (;;) {
      const { code, out, err } = await cli(...args);
      if (code === 0) return out;
      if (!err.includes('no worker answered')) throw new Error(`${args.join(' ')}: ${code}\n${err}${out}`);
    }
  };

  beforeAll(async () => {
    execFileSync(process.execPath, [build], { stdio: 'inherit' });
    postgres = await startPostgres();
    directUrl = await postgres.createDatabase();
    toStore = await TcpProxy.open(new URL(directUrl).host);
    toTemporal = await TcpProxy.open(inject('temporalAddress'));
    const machines = exampleHosts.map((hostname) => ({ hostname, status: 4, power_type: 'ipmi' }));
    // Nothing is ever deployed: the run stays open.
    simulator = await simulateMaas({ port: 0, seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    const url = new URL(directUrl);
    url.host = toStore.address;
    const port = await freePort();
    env = {
      PATH: process.env.PATH,
      USER: 'ann',
      NO_COLOR: '1',
      SITEWRIGHT_STORE_URL: url.href,
      SITEWRIGHT_TEMPORAL_ADDRESS: toTemporal.address,
      SITEWRIGHT_TEMPORAL_TASK_QUEUE: `store-away-${process.pid}`,
      SITEWRIGHT_MAAS_URL: simulator.url,
      SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
      SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.2',
      SITEWRIGHT_API_PORT: String(port),
      SITEWRIGHT_API: `http://127.0.0.1:${port}`,
      SITEWRIGHT_ACCESS_TOKENS: 'on',
      SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'agents'),
      SITEWRIGHT_TASK_LOGS_FOLDER: join(folder, 'logs'),
    };
  });
  afterAll(async () => {
    toStore?.restore();
    toTemporal?.restore();
    await Promise.all(programs.map((program) => program.terminate()));
    await simulator?.close();
    await Promise.all([toStore?.close(), toTemporal?.close()]);
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('starting processes wait for it, and for Temporal, and report that; SIGTERM ends the wait', async () => {
    toStore.cut();
    toTemporal.cut();
    const worker = start('worker');
    const api = start('api');
    const agent = start('agent', 'run', '--site', 'away', '--node', 'n1');
    const other = start('worker');
    const all = [worker, api, agent, other];
    await Promise.all(all.map((program) => program.says(/database .* cannot be reached.*; waiting for it/)));
    expect(await other.terminate()).toEqual([0, null]);
    toStore.restore();
    await api.says(/API ready at/);
    await Promise.all(
      [worker, agent].map((program) => program.says(/Temporal at .* cannot be reached.*; waiting for it/)),
    );
    toTemporal.restore();
    await Promise.all([worker.says(/worker ready/), agent.says(/agent ready for/)]);
  });

  it('a run is shown and controlled with Temporal alone, by its id; lists are refused', async () => {
    const { token } = JSON.parse(await done('token', 'bootstrap', '--name', 'ann', '-f', 'json'));
    env = { ...env, SITEWRIGHT_TOKEN: token };
    await done('site', 'create', site);
    await done('site', 'commit', site, documents);
    const { id } = JSON.parse(await done('site', 'deploy', site, '-f', 'json')) as { id: string };
    for (;;) {
      const { current } = JSON.parse(await done('run', 'status', id, '-f', 'json'));
      if (current?.call === 'deploy') break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }

    toStore.cut();
    expect(JSON.parse(await done('run', 'status', id, '-f', 'json'))).toMatchObject({
      site,
      paused: null,
      warnings: expect.arrayContaining(['The store cannot be reached: the run itself answers.']),
    });
    // The store alone has lists, which tell the run of a site. Of a run that is known, only a person's say counts: that goes on.
    for (const refused of [await cli('run', 'list', '--open'), await cli('run', 'status', site)])
      expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('cannot be reached')]);
    await done('run', 'pause', id, '--reason', 'rack power');
    expect(await done('run', 'status', id)).toMatch(/paused/);
    // Its machine has vanished: no connection breaks, and no answer arrives.
    toStore.restore();
    toStore.mute();
    await done('run', 'resume', id);
    expect(JSON.parse(await done('run', 'report', id, '-f', 'json'))).toMatchObject({
      operator: [{ action: 'pause', reason: 'rack power', by: 'ann' }, { action: 'resume' }],
    });
    const refused = await cli('run', 'retry', id, 'stl1r01s02');
    expect([refused.code, refused.err]).toEqual([4, expect.stringMatching(/has not failed/)]);
    // A token that this API has not seen before the outage cannot be checked.
    const stranger = await cli('run', 'status', id, '--token-file', '/dev/null');
    expect(stranger.code).not.toBe(0);
    await done('run', 'cancel', id, '--yes');

    toStore.restore();
    for (;;) {
      const { outcome } = JSON.parse(await done('run', 'show', id, '-f', 'json'));
      if (outcome !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // No operator action is missing in the audit trail.
    const store = await openStore(directUrl);
    const wanted = ['run.pause', 'run.resume', 'run.cancel'];
    for (;;) {
      const { items } = await store.audit.list({ target: `run/${id}` });
      if (wanted.every((action) => items.some((entry) => entry.action === action && entry.actor === 'ann'))) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await store.close();
  });
});

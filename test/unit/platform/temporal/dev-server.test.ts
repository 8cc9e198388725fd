import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../src/platform/free-port.ts';
import { isAlive } from '../../../../src/platform/processes/lock.ts';
import { loadSettings } from '../../../../src/platform/settings/load-settings.ts';
import { type DevServer, devServerArguments, startDevServer } from '../../../../src/platform/temporal/dev-server.ts';
import { explainMissing, findTemporalBinary } from '../../../../src/platform/temporal/find-server.ts';
import { probeServer } from '../../../../src/platform/temporal/probe.ts';
import { retentionDays } from '../../../../src/platform/temporal/retention.ts';
import { checkSearchAttributes, ensureSearchAttributes } from '../../../../src/platform/temporal/search-attributes.ts';
import { examine } from '../../../../worker/doctor.ts';
import { appears, Gate } from '../../../rig/gate.ts';

describe('the dev server', { timeout: 180_000 }, () => {
  let binary: string;
  let folder: string;
  const started: DevServer[] = [];
  beforeAll(async () => {
    const found = await findTemporalBinary();
    if (found.status === 'missing') throw new Error(explainMissing(found));
    binary = found.path;
  }, 1_800_000);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-dev-server-'));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (options: Partial<Parameters<typeof startDevServer>[0]> = {}): Promise<DevServer> => {
    const server = await startDevServer({ binary, logFile: join(folder, 'temporal.log'), uiPort: 'none', ...options });
    started.push(server);
    return server;
  };

  it('answers with its Web UI, has our search attributes, and is stopped after stop', async () => {
    const server = await startDevServer({ binary, logFile: join(folder, 'temporal.log'), namespaces: ['extra'] });
    started.push(server);
    expect(await probeServer(server.address, { namespace: 'extra', limitMs: 60_000 })).toMatchObject({
      status: 'ready',
    });
    expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
    const connection = await Connection.connect({ address: server.address });
    try {
      const all = ['SiteName', 'RunPhase', 'GraphType', 'FailedNodes', 'StartedBy'];
      expect(await checkSearchAttributes(connection, 'default')).toEqual({ usable: all, added: [] });
      const { operatorService } = connection;
      const namespace = 'extra';
      await operatorService.removeSearchAttributes({ namespace, searchAttributes: ['SiteName', 'StartedBy'] });
      await operatorService.addSearchAttributes({ namespace, searchAttributes: { SiteName: 3 } });
      const rest = ['RunPhase', 'GraphType', 'FailedNodes'];
      const mistyped = {
        names: ['SiteName'],
        problem: 'wrong type: SiteName must be Keyword',
        command:
          'temporal operator search-attribute remove --namespace extra --yes --name SiteName' +
          ' && temporal operator search-attribute create --namespace extra --name SiteName --type Keyword',
      };
      expect(await checkSearchAttributes(connection, namespace)).toEqual({
        usable: rest,
        added: [],
        mistyped,
        missing: {
          names: ['StartedBy'],
          problem: 'removed, or never added',
          command: 'temporal operator search-attribute create --namespace extra --name StartedBy --type Keyword',
        },
      });
      // One of the wrong type does not keep the missing one from being added.
      expect(await ensureSearchAttributes(connection, namespace)).toEqual({
        usable: [...rest, 'StartedBy'],
        added: ['StartedBy'],
        mistyped,
      });
      const env = { SITEWRIGHT_TEMPORAL_ADDRESS: server.address, SITEWRIGHT_TEMPORAL_NAMESPACE: namespace };
      const loaded = loadSettings({ env, cwd: folder });
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
      expect((await examine(loaded.settings)).find(({ name }) => name === 'search attributes')).toMatchObject({
        state: 'fail',
        message: expect.stringContaining(mistyped.problem),
        fix: mistyped.command,
      });
      const repair = mistyped.command.replaceAll('temporal ', `${binary} --address ${server.address} `);
      await promisify(execFile)('sh', ['-c', repair]);
      expect((await ensureSearchAttributes(connection, namespace)).usable).toEqual(all);
      expect(await ensureSearchAttributes(connection, 'absent')).toMatchObject({ usable: [], missing: { names: all } });
    } finally {
      await connection.close();
    }
    await server.stop();
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    expect(await probeServer(server.address, { namespace: 'default', limitMs: 500 })).toMatchObject({
      status: 'unreachable',
    });
  });

  it('keeps ended runs as configured, and the doctor reports a namespace that keeps them for less', async () => {
    const server = await start({ namespaces: ['extra'], retentionDays: 30 });
    const connection = await Connection.connect({ address: server.address });
    try {
      for (const namespace of ['default', 'extra']) expect(await retentionDays(connection, namespace)).toBe(30);
    } finally {
      await connection.close();
    }
    const retention = async (days: string) => {
      const env = { SITEWRIGHT_TEMPORAL_ADDRESS: server.address, SITEWRIGHT_TEMPORAL_RETENTION_DAYS: days };
      const loaded = loadSettings({ env, cwd: folder });
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
      return (await examine(loaded.settings)).find(({ name }) => name === 'retention');
    };
    const kept = 'Temporal keeps histories of ended runs for 30 days';
    expect(await retention('30')).toEqual({ name: 'retention', state: 'ok', message: kept });
    const less = await retention('90');
    expect(less).toEqual({
      name: 'retention',
      state: 'warn',
      message: `${kept}, not 90; reports of older runs are kept, their trees are not`,
      fix: 'temporal operator namespace update --namespace default --retention 2160h, or set temporal.retention_days',
    });
    const command = less!.fix!.split(', or')[0]!.replace('temporal ', `${binary} --address ${server.address} `);
    await promisify(execFile)('sh', ['-c', command]);
    expect(await retention('90')).toMatchObject({ state: 'ok' });
  });

  it('keeps its database across restarts, and is shared by all that name the same file', async () => {
    const databaseFile = join(folder, 'data/temporal.db');
    const first = await start({ databaseFile });
    const second = await start({ databaseFile });
    expect(second).toMatchObject({ address: first.address, pid: first.pid, reused: true });
    await second.stop();
    expect(isAlive(first.pid)).toBe(true);
    const connection = await Connection.connect({ address: first.address });
    const request = {
      namespace: 'default',
      workflowId: 'kept',
      workflowType: { name: 'none' },
      taskQueue: { name: 'none' },
      requestId: '1',
    };
    await connection.workflowService.startWorkflowExecution(request);
    await connection.close();
    await first.stop();
    const third = await start({ databaseFile });
    expect(third.reused).toBe(false);
    const again = await Connection.connect({ address: third.address });
    const { workflowExecutionInfo } = await again.workflowService.describeWorkflowExecution({
      namespace: 'default',
      execution: { workflowId: 'kept' },
    });
    expect(workflowExecutionInfo?.execution?.workflowId).toBe('kept');
    await again.close();
  });

  it('reports its log when it cannot start, and leaves nothing running', async () => {
    const unreadable = join(folder, 'not-a-database');
    await writeFile(unreadable, 'this is not a SQLite file, though long enough to be read as one');
    await expect(start({ databaseFile: unreadable })).rejects.toThrow(
      /dev server ended before it answered[\s\S]*(database|sqlite)/i,
    );
    await expect(start({ binary: join(folder, 'absent') })).rejects.toThrow(/did not start/);
  });

  it('refuses a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(start({ port })).rejects.toThrow(`Port ${port} is in use`);
    other.close();
  });

  it('takes no other server that is quicker on its port for its own, and uses another port', async () => {
    // A server that starts when the test says so.
    const gate = new Gate(join(folder, 'gate'));
    const slow = join(folder, 'slow');
    await writeFile(
      slow,
      `#!/bin/sh
cd ${folder}
[ -e passed ] || { : > started; read -r go < gate; : > passed; }
exec ${binary} "$@"
`,
      { mode: 0o755 },
    );
    const port = await freePort();
    const started = appears(join(folder, 'started'));
    let isThere = false;
    const late = start({ binary: slow, logFile: join(folder, 'late.log'), port: { preferred: port } }).finally(() => {
      isThere = true;
    });
    // Now it has found its port free.
    await started;
    const quick = await start({ port });
    expect(isThere).toBe(false);
    await gate.open();
    const own = await late;
    expect(quick.address).toBe(`127.0.0.1:${port}`);
    expect(own.address).not.toBe(quick.address);
    expect([quick, own].map(({ pid }) => isAlive(pid))).toEqual([true, true]);
    await quick.stop();
    expect((await probeServer(own.address, { namespace: 'default', limitMs: 60_000 })).status).toBe('ready');
  });

  it('gives up at its deadline on a program that never answers', async () => {
    const silent = join(folder, 'silent');
    await writeFile(silent, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
    await expect(start({ binary: silent, startLimitMs: 300 })).rejects.toThrow('did not answer in time');
  });

  /** Lets another process start a server, and kills that process. Returns the server's id. */
  const orphan = async (databaseFile?: string): Promise<number> => {
    const module = new URL('../../../../src/platform/temporal/dev-server.ts', import.meta.url).href;
    const options = { binary, logFile: join(folder, 'orphan.log'), uiPort: 'none', databaseFile };
    const program = `
      const { startDevServer } = await import(${JSON.stringify(module)});
      const server = await startDevServer(${JSON.stringify(options)});
      console.log(server.pid);
      setInterval(() => {}, 1000);
    `;
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(starter.stdout), 'line')) as [string];
    expect(isAlive(Number(line))).toBe(true);
    starter.kill('SIGKILL');
    await once(starter, 'exit');
    return Number(line);
  };

  it('ends with its starter, however that ends', async () => {
    const pid = await orphan();
    await gone(pid);
    expect(isAlive(pid)).toBe(false);
  });

  it('is not taken for a running one while it dies, and frees its database for the next', async () => {
    const databaseFile = join(folder, 'temporal.db');
    const pid = await orphan(databaseFile);
    const next = await start({ databaseFile });
    expect(next.reused).toBe(false);
    expect(isAlive(pid)).toBe(false);
    expect((await probeServer(next.address, { namespace: 'default', limitMs: 60_000 })).status).toBe('ready');
  });

  it.skipIf(process.platform !== 'linux')('is ended by us when the watchdog is killed', async () => {
    const server = await start();
    const parent = Number((await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')[1]);
    process.kill(parent, 'SIGKILL');
    await gone(server.pid);
    expect(isAlive(server.pid)).toBe(false);
  });

  it('is started with a file database with WAL, one partition, and all search attributes', () => {
    const args = devServerArguments(
      { databaseFile: '/d/t.db', namespaces: ['n'] },
      { port: 1, ui: { host: '127.4.5.6', port: 2 }, httpPort: 3 },
    ).join(' ');
    expect(args).toBe(
      'server start-dev --ip 127.0.0.1 --port 1 --http-port 3 --ui-ip 127.4.5.6 --ui-port 2 --db-filename /d/t.db' +
        ' --sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=NORMAL' +
        ' --dynamic-config-value matching.numTaskqueueReadPartitions=1 --dynamic-config-value matching.numTaskqueueWritePartitions=1' +
        ' --dynamic-config-value matching.updateAckInterval="5m" --dynamic-config-value frontend.namespaceCount=5000' +
        ' --dynamic-config-value history.MaxBufferedQueryCount=100 --dynamic-config-value history.transferProcessorMaxPollRPS=100' +
        ' --dynamic-config-value frontend.httpAllowedHosts=["/"] --dynamic-config-value system.enableNexus=false' +
        ' --search-attribute SiteName=Keyword --search-attribute RunPhase=Keyword --search-attribute GraphType=Keyword' +
        ' --search-attribute FailedNodes=Int --search-attribute StartedBy=Keyword --namespace n --log-level warn --log-format json',
    );
  });
});

/** Resolves when the process has ended; the test's own time limit is the deadline. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((done) => setImmediate(done));
}

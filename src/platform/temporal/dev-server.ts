import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { given } from '../../core/data/given.ts';
import { freePort, freePorts } from '../free-port.ts';
import { isAlive, withLock } from '../processes/lock.ts';
import { runnableProgram } from '../threads/runnable-program.ts';
import { probeServer } from './probe.ts';
import { setRetentionDays } from './retention.ts';
import { searchAttributes } from './search-attributes.ts';
import { guardWebUi } from './web-ui-guard.ts';

/** A port, or one that is used where it is free; absent: any that is free. */
type PortChoice = number | { readonly preferred: number } | undefined;

/** How to start a dev server. */
export interface DevServerOptions {
  /** The Temporal CLI, as found by `findTemporalBinary`. */
  readonly binary: string;
  /** SQLite file that keeps data across restarts; absent: data is in memory and lost at the end. */
  readonly databaseFile?: string;
  /** The server's log file; created with its folder, or appended to. */
  readonly logFile: string;
  /** gRPC port. */
  readonly port?: PortChoice;
  /** Port of Temporal's Web UI, which this process serves through its guard; `none` leaves it out. */
  readonly uiPort?: PortChoice | 'none';
  /** Names under which browsers reach it, e.g. through a proxy, beyond those of this machine. */
  readonly uiNames?: readonly string[];
  /** Namespaces in addition to `default`. */
  readonly namespaces?: readonly string[];
  /** Days that all of them keep the histories of ended runs; default: the server's own, one day. */
  readonly retentionDays?: number;
  /** Time limit until the server answers; default 60 s, for loaded machines. */
  readonly startLimitMs?: number;
}

/** A running dev server. */
export interface DevServer {
  /** `host:port` for clients and workers. */
  readonly address: string;
  /** Base address of Temporal's Web UI, without a trailing slash; absent when left out. */
  readonly uiUrl?: string;
  /** The server's process id. */
  readonly pid: number;
  /** True if it was already running on the same database file: then `stop()` leaves it running. */
  readonly reused: boolean;
  /** Stops it (SIGTERM, SIGKILL after five seconds) and resolves once the process has ended. May be called twice. */
  stop(): Promise<void>;
}

/** The server did not start; `message` has the reason and the end of its log. */
export class DevServerError extends Error {
  override readonly name = 'DevServerError';
  /** Whether another process has the port. */
  readonly isTaken: boolean;

  constructor(message: string, isTaken = false) {
    super(message);
    this.isTaken = isTaken;
  }
}

const GRACE_MS = 5_000;
const WATCHDOG = new URL('../processes/run-with-parent.ts', import.meta.url);

/**
 * Starts Temporal's dev server on the loopback address and waits until it answers. It ends with this process, however that
 * ends. If a running server already uses the database file, returns that server instead, because SQLite allows only one.
 *
 * @throws DevServerError when it exits early or does not answer in time; no process is left running
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { databaseFile } = options;
  if (databaseFile === undefined) return await startWithFreePorts(options);
  const file = resolve(databaseFile);
  await mkdir(dirname(file), { recursive: true });
  return await withLock(`${file}.lock`, async () => {
    const running = await findRunning(file);
    if (running) return running;
    const server = await startWithFreePorts({ ...options, databaseFile: file });
    const { address, uiUrl, pid } = server;
    const note: Note = { address, uiUrl, pid, owner: process.pid };
    await writeWhole(noteOf(file), JSON.stringify(note));
    // No one may find the server or open its file while it stops.
    const stop = (): Promise<void> =>
      withLock(`${file}.lock`, async () => {
        if (isAlive(pid)) await rm(noteOf(file), { force: true });
        await server.stop();
      });
    return { ...server, stop };
  });
}

/**
 * The arguments after `temporal`, with settings measured for a single machine.
 *
 * @internal exported for its test
 */
export function devServerArguments(
  options: Pick<DevServerOptions, 'databaseFile' | 'namespaces'>,
  { port, ui, httpPort }: Omit<Ports, 'httpPort'> & Partial<Ports>,
): string[] {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)];
  if (httpPort !== undefined) args.push('--http-port', String(httpPort));
  args.push(...(ui === undefined ? ['--headless'] : ['--ui-ip', ui.host, '--ui-port', String(ui.port)]));
  if (options.databaseFile !== undefined) {
    // WAL with NORMAL survives a crash of the process and is 3.4 times as fast as the defaults; a power failure may
    // lose the last commits, never the file.
    args.push('--db-filename', options.databaseFile);
    args.push('--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL');
  }
  const dynamic = {
    // Every node has two task queues; one partition each costs a third of the memory of four.
    'matching.numTaskqueueReadPartitions': 1,
    'matching.numTaskqueueWritePartitions': 1,
    // How often an idle loaded queue is persisted; at the default (1 minute), 1,000 idle nodes make 70 writes a second.
    // The server recognizes finished work that it reads again after a crash.
    'matching.updateAckInterval': '"5m"',
    // Each node agent keeps long polls open; 300 nodes use up the default (1,200).
    'frontend.namespaceCount': 5000,
    // Queries that wait for a run's worker; at the default (1), a concurrent second one waits a second or is refused.
    'history.MaxBufferedQueryCount': 100,
    // How often a shard of the history, of which this server has one, looks for steps to hand out. At the default (20), each
    // step of each run waits up to 50 ms once a few have been taken.
    'history.transferProcessorMaxPollRPS': 100,
    // The same API by HTTP cannot be left out, and takes requests of any page in a browser on this machine. So it answers only
    // to a name that no request can have; Nexus, which does not look at names, is off: nobody uses it.
    'frontend.httpAllowedHosts': '["/"]',
    'system.enableNexus': false,
  };
  for (const [key, value] of Object.entries(dynamic)) args.push('--dynamic-config-value', `${key}=${value}`);
  for (const { name, type } of searchAttributes) args.push('--search-attribute', `${name}=${type}`);
  for (const namespace of options.namespaces ?? []) args.push('--namespace', namespace);
  args.push('--log-level', 'warn', '--log-format', 'json');
  return args;
}

/** Chooses others where another process has the ports, or takes them before the server does. */
async function startWithFreePorts(options: DevServerOptions): Promise<DevServer> {
  const { uiPort, uiNames = [] } = options;
  if (uiPort === 'none') return startOnFreePort(options, undefined);
  const target = { host: hiddenAddress(), port: await freePort() };
  const guard = await guardOn(uiPort, { target, names: uiNames });
  try {
    const server = await startOnFreePort(options, target);
    guard.unref();
    const stop = async (): Promise<void> => {
      await guard.close();
      await server.stop();
    };
    return { ...server, uiUrl: `http://127.0.0.1:${guard.port}`, stop };
  } catch (error) {
    await guard.close();
    throw error;
  }
}

/**
 * Where the Web UI listens, which serves whoever asks: pages of other sites would have to guess the address. Only Linux has all
 * of 127.0.0.0/8 without being told.
 */
const hiddenAddress = (): string =>
  process.platform === 'linux' ? ['127', ...[1, 2, 3].map(() => randomInt(1, 255))].join('.') : '127.0.0.1';

async function guardOn(
  choice: PortChoice,
  of: { readonly target: NonNullable<Ports['ui']>; readonly names: readonly string[] },
): ReturnType<typeof guardWebUi> {
  const port = typeof choice === 'object' ? choice.preferred : (choice ?? 0);
  try {
    return await guardWebUi({ host: '127.0.0.1', port, ...of });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (typeof choice === 'object') return guardOn(undefined, of);
    throw new DevServerError(inUse(port));
  }
}

async function startOnFreePort(options: DevServerOptions, ui: Ports['ui']): Promise<DevServer> {
  let { port } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(options, { ...(await portsFor(port)), ...given({ ui }) });
    } catch (error) {
      const isTaken = error instanceof DevServerError && error.isTaken;
      if (!isTaken || attempt === 4 || typeof port === 'number') throw error;
      port = undefined;
    }
  }
}

interface Ports {
  readonly port: number;
  /** Where the Web UI listens; absent: there is none. */
  readonly ui?: { readonly host: string; readonly port: number };
  /** Of the same API by HTTP. Nobody asks for it: an answer there proves that it is this server that answers on `port`. */
  readonly httpPort: number;
}

async function startOn(options: DevServerOptions, ports: Ports): Promise<DevServer> {
  const { port } = ports;
  await mkdir(dirname(options.logFile), { recursive: true });
  const log = await open(options.logFile, 'a');
  const from = (await log.stat()).size;
  const command = [options.binary, ...devServerArguments(options, ports)];
  const server = await spawnWithParent(command, log.fd).finally(() => log.close());

  const address = `127.0.0.1:${port}`;
  const deadline = Date.now() + (options.startLimitMs ?? 60_000);
  const fail = async (reason: string): Promise<never> => {
    await server.stop();
    const written = (await readFile(options.logFile)).subarray(from).toString();
    const tail = written.trim().split('\n').slice(-8).join('\n');
    throw new DevServerError(
      `The Temporal dev server ${reason}. Its log, ${options.logFile}, ends with:\n${tail}`,
      /address already in use/i.test(tail),
    );
  };
  let problem = 'nothing answered';
  for (;;) {
    if (server.hasEnded()) return await fail('ended before it answered');
    // Another server may have come first on the port. The port of HTTP is chosen by chance, and the server opens it after the other.
    if (await answersHttp(ports.httpPort)) {
      const answer = await probeServer(address, { namespace: 'default', limitMs: 2_000 });
      if (answer.status === 'ready') break;
      problem = answer.problem;
    }
    if (Date.now() > deadline) return await fail(`did not answer in time (${problem})`);
    await delay(50);
  }
  if (options.retentionDays !== undefined) {
    for (const namespace of ['default', ...(options.namespaces ?? [])])
      await setRetentionDays(address, namespace, options.retentionDays);
  }
  return { address, pid: server.pid, reused: false, stop: server.stop };
}

/** Whether a server answers, whatever it says. */
async function answersHttp(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/system-info`, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

interface Spawned {
  readonly pid: number;
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** Through the watchdog, in its own process group so that Ctrl-C reaches us first. */
async function spawnWithParent(command: readonly string[], logFd: number): Promise<Spawned> {
  const watchdog = spawn(process.execPath, [fileURLToPath(runnableProgram(WATCHDOG)), String(GRACE_MS), ...command], {
    stdio: ['pipe', 'pipe', logFd],
    detached: true,
  });
  const { stdin, stdout } = watchdog;
  if (stdin === null || stdout === null) throw new Error('both are pipes');
  const ended = new Promise<void>((done) => watchdog.once('close', () => done()));
  stdin.on('error', () => {});
  const pid = await new Promise<number>((done, fail) => {
    createInterface(stdout).on('line', (line) => {
      const [word, ...rest] = line.split(' ');
      if (word === 'started') done(Number(rest[0]));
      if (word === 'failed') fail(new DevServerError(`The Temporal dev server did not start: ${rest.join(' ')}.`));
    });
    watchdog.once('error', fail);
    watchdog.once('close', () => fail(new DevServerError('The Temporal dev server did not start.')));
  });
  // If someone kills the watchdog, its work is ours.
  watchdog.once('close', () => endNow(pid));
  // The server must not keep an otherwise finished program running.
  unref(watchdog);
  return {
    pid,
    hasEnded: () => watchdog.exitCode !== null || watchdog.signalCode !== null,
    stop: async () => {
      watchdog.ref();
      stdin.destroy();
      await ended;
    },
  };
}

function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?: () => void } | null)?.unref?.();
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already ended.
  }
}

/** Ends a process, not necessarily our child, and resolves when it has ended. */
async function endProcess(pid: number): Promise<void> {
  if (!isAlive(pid)) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + GRACE_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) endNow(pid);
    await delay(25);
  }
}

/** A running server's record next to its database file, for the next start. */
interface Note {
  readonly address: string;
  readonly uiUrl?: string | undefined;
  readonly pid: number;
  /** The process it ends with. */
  readonly owner: number;
}

const noteOf = (databaseFile: string): string => `${databaseFile}.server.json`;

async function findRunning(databaseFile: string): Promise<DevServer | undefined> {
  const note = await readFile(noteOf(databaseFile), 'utf8').catch(() => undefined);
  if (note === undefined) return undefined;
  const { address, uiUrl, pid, owner } = JSON.parse(note) as Note;
  // It still answers for a moment, but it is stopping.
  if (!isAlive(owner)) await endProcess(pid);
  const isUsable =
    isAlive(pid) && (await probeServer(address, { namespace: 'default', limitMs: 5_000 })).status === 'ready';
  if (!isUsable) {
    await rm(noteOf(databaseFile), { force: true });
    return undefined;
  }
  return { address, ...given({ uiUrl }), pid, reused: true, stop: async () => {} };
}

async function writeWhole(path: string, text: string): Promise<void> {
  const aside = join(dirname(path), `.${process.pid}.tmp`);
  await writeFile(aside, text);
  await rename(aside, path);
}

async function portsFor(choice: PortChoice): Promise<Ports> {
  const [any, httpPort] = (await freePorts(2)) as [number, number];
  const port = typeof choice === 'object' ? choice.preferred : (choice ?? any);
  await checkFree(port);
  return { port, httpPort };
}

const inUse = (port: number): string => `Port ${port} is in use (address already in use); choose another or omit it.`;

async function checkFree(port: number): Promise<void> {
  // A client waiting for a server on this port must not keep this check open.
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      fail(error.code === 'EADDRINUSE' ? new DevServerError(inUse(port), true) : error),
    );
    server.listen(port, '127.0.0.1', done);
  });
  await new Promise((done) => server.close(done));
}

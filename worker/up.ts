import { statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream';
import { Connection } from '@temporalio/client';
import { EXIT, type ExitCode } from '../src/cli/shell/exit-codes.ts';
import { CliError, usageError } from '../src/cli/shell/problem.ts';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { paintFor } from '../src/cli/views/paint.ts';
import { given } from '../src/core/data/given.ts';
import { openOwnFolder } from '../src/platform/files/own-folder.ts';
import { readPrivate } from '../src/platform/files/private-file.ts';
import { freePort } from '../src/platform/free-port.ts';
import { isAlive, withLock } from '../src/platform/processes/lock.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { connectionOptions } from '../src/platform/temporal/connection-options.ts';
import {
  type DevServer,
  DevServerError,
  type DevServerOptions,
  startDevServer,
} from '../src/platform/temporal/dev-server.ts';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { ownQueue } from '../src/platform/temporal/own-queue.ts';
import { probeServer } from '../src/platform/temporal/probe.ts';
import { seedOfSite } from './parts/site-seed.ts';
import { type ChildSpec, NeverReady, type SupervisedChild, supervise } from './parts/supervised-child.ts';

interface UpOptions {
  readonly startTemporal: boolean;
  readonly simulateMaas: boolean;
  /**
   * `own`: the API requires tokens, and `up` keeps one for its user; `off`: it requires none; `set`: as the settings say, with
   * tokens of their users.
   */
  readonly tokens: 'own' | 'off' | 'set';
  /** Content of a simulated MAAS at its first start: a JSON seed, or documents whose nodes become machines. */
  readonly maasSeed?: readonly string[];
  /** Settings file to pass on. */
  readonly config?: string;
  /** Whether the folder of agents' journals is set; otherwise it is below the working directory. */
  readonly hasStateFolder: boolean;
  /** What is known of other systems: the one at an address, and what to tell whoever starts an empty one beside it. */
  readonly others: {
    at(host: string, port: number): Promise<{ readonly text: string } | undefined>;
    warning(own: string, sharesTemporal: boolean, token: string | undefined): Promise<string | undefined>;
  };
}

/** Folder in the working directory for all data. */
const FOLDER = '.sitewright';
/** Lock file in that folder: two systems must not write to the same files. */
const LOCK = 'up.lock';
const LOOK_AT_SERVER_MS = 2_000;
/** Real machines take many minutes for each; a trial should not. */
const SIMULATED_PACE = { commission_ms: 3_000, deploy_ms: 6_000, release_ms: 1_000, erase_ms: 2_000, jitter: 0.3 };

/**
 * Runs a whole system until Ctrl-C or SIGTERM: Temporal's dev server if none answers, a simulated MAAS
 * on request, API and worker. Each is a separate process that is restarted when it dies; none
 * outlives this one.
 */
export async function runAll(terminal: Terminal, settings: Settings, options: UpOptions): Promise<ExitCode> {
  const folder = resolve(terminal.cwd, FOLDER);
  await refuseTakenPort(settings, options.others);
  const giveUmaskBack = openOwnFolder(folder);
  try {
    return await withLock(join(folder, LOCK), () => new System(folder, terminal, settings, options).run(), {
      onWait: (holder) => {
        throw alreadyUp(folder, holder);
      },
    });
  } finally {
    giveUmaskBack();
  }
}

/** A second system on this machine must not start its worker, which would take work of the first one. */
async function refuseTakenPort({ api: { host, port } }: Settings, others: UpOptions['others']): Promise<void> {
  if (port === 0 || !(await isTaken(host, port))) return;
  const running = await others.at(host, port);
  throw new CliError(
    {
      code: 'cannot-listen',
      message:
        running === undefined
          ? `another process already listens on ${host}:${port}, the address of the API`
          : `a system already runs at ${running.text}`,
      hint: `${running === undefined ? 'Is a system already running? Then use it' : 'Use it'}: 'sitewright site list'. A second one needs its own ports: SITEWRIGHT_API_PORT, and SITEWRIGHT_TEMPORAL_ADDRESS for its Temporal server.`,
    },
    EXIT.conflict,
  );
}

function alreadyUp(folder: string, holder: number): CliError {
  const who = holder > 0 ? ` (process ${holder})` : '';
  return new CliError(
    {
      code: 'already-up',
      message: `another 'sitewright up'${who} keeps its data in ${folder}`,
      hint: `Stop it with Ctrl-C in its terminal, or start this one in another folder. If that process is another program, delete ${join(folder, LOCK)}.`,
    },
    EXIT.conflict,
  );
}

/** The processes of a system, from the start of the first to the end of the last. */
class System {
  readonly #folder: string;
  readonly #terminal: Terminal;
  readonly #settings: Settings;
  readonly #options: UpOptions;
  readonly #say: Say;
  /** Environment of the processes. */
  readonly #env: NodeJS.ProcessEnv;
  readonly #tokenFile: string | undefined;
  readonly #interrupted: AbortSignal;
  readonly #untilInterrupted: Promise<'interrupted'>;
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(folder: string, terminal: Terminal, settings: Settings, options: UpOptions) {
    this.#folder = folder;
    this.#terminal = terminal;
    this.#settings = settings;
    this.#options = options;
    this.#say = sayer(terminal);
    this.#tokenFile = options.tokens === 'own' ? join(folder, 'token') : undefined;
    this.#env = {
      ...terminal.env,
      ...given({
        SITEWRIGHT_CONFIG: options.config && resolve(terminal.cwd, options.config),
        SITEWRIGHT_ACCESS_LOCAL_TOKEN_FILE: this.#tokenFile,
      }),
      ...(options.tokens !== 'set' && { SITEWRIGHT_ACCESS_TOKENS: options.tokens === 'own' ? 'on' : 'off' }),
      ...(!options.hasStateFolder && { SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'agent') }),
    };
    this.#interrupted = terminal.interrupted();
    this.#untilInterrupted = new Promise((done) => {
      if (this.#interrupted.aborted) done('interrupted');
      this.#interrupted.addEventListener('abort', () => done('interrupted'), { once: true });
    });
  }

  /** Until Ctrl-C or SIGTERM. */
  async run(): Promise<ExitCode> {
    const { maasSeed } = this.#options;
    const seed =
      maasSeed &&
      (await maasSeedFile(
        maasSeed.map((path) => resolve(this.#terminal.cwd, path)),
        this.#folder,
      ));
    try {
      await this.#serve(seed);
      return EXIT.done;
    } catch (error) {
      if (error instanceof NeverReady)
        throw new CliError(
          {
            code: 'not-started',
            message: error.message,
            hint: "'sitewright doctor' checks everything and shows a fix for each problem.",
          },
          EXIT.unreachable,
        );
      throw error;
    } finally {
      // Stop in reverse order: the worker may still need Temporal to shut down.
      for (const stop of this.#stops.reverse()) await stop();
      this.#say('up', 'everything has stopped');
    }
  }

  async #serve(seed: string | undefined): Promise<void> {
    const temporal = await this.#startTemporal();
    if (temporal === 'interrupted') return;
    const sharesTemporal = temporal === undefined && (await hasWorkers(this.#settings));
    const maasUrl = this.#options.simulateMaas ? await this.#startMaas(seed) : this.#settings.maas.url;
    if (maasUrl === 'interrupted') return;
    const url = await this.#startOurs();
    if (url !== 'interrupted') {
      const token = this.#tokenFile === undefined ? undefined : readPrivate(this.#tokenFile)?.trim();
      this.#terminal.out(overview(url, temporal, this.#settings, maasUrl, token));
      if (this.#options.tokens === 'off')
        this.#say(
          'warning',
          'tokens are off: every user and program of this machine may use this system as an admin, and run commands as you',
        );
      const warning = await this.#options.others.warning(url, sharesTemporal, token);
      if (warning !== undefined) this.#say('warning', warning);
      await this.#untilInterrupted;
    }
    this.#say('up', 'stopping');
  }

  #run(name: string, args: readonly string[], ready: RegExp, own: Partial<ChildSpec> = {}): SupervisedChild {
    const child = supervise({ name, args, env: this.#env, ready, ...own }, this.#say);
    this.#stops.push(() => child.stop());
    return child;
  }

  /** Undefined when another server answers. */
  async #startTemporal() {
    const starting = temporalFor(this.#settings, this.#options, this.#folder, this.#say);
    const server = await Promise.race([starting, this.#untilInterrupted]);
    // A server that is still starting stops with this process.
    if (server === undefined || server === 'interrupted') return server;
    this.#stops.push(server.stop);
    this.#env.SITEWRIGHT_TEMPORAL_ADDRESS = server.address;
    if (server.uiUrl !== undefined) this.#env.SITEWRIGHT_TEMPORAL_UI_URL = server.uiUrl;
    const forNodes = this.#settings.gateway.temporal_address;
    if (forNodes !== undefined && forNodes !== server.address) {
      this.#stops.push(await relayToNodes(forNodes, server.address));
      this.#say('temporal', `nodes reach it at ${forNodes}`);
    }
    return server;
  }

  /** A simulated MAAS; its address. */
  async #startMaas(seed: string | undefined): Promise<string> {
    const keyFile = join(this.#folder, 'maas-simulator.key');
    // Chosen once, so that a restarted simulator keeps its address.
    const port = String(await freePort());
    const args = ['maas', 'simulate', '--port', port, '--state', join(this.#folder, 'maas.jsonl')];
    args.push('--key-file', keyFile);
    args.push('--auto', JSON.stringify(SIMULATED_PACE));
    if (seed !== undefined) args.push('--seed', seed);
    const url = await Promise.race([this.#run('maas', args, /^MAAS simulator\s+(\S+)/).ready, this.#untilInterrupted]);
    if (url === 'interrupted') return url;
    this.#env.SITEWRIGHT_MAAS_URL = url;
    this.#env.SITEWRIGHT_MAAS_KEY_FILE = keyFile;
    delete this.#env.SITEWRIGHT_MAAS_KEY;
    return url;
  }

  /** API, worker and, where it is allowed, the agent of the master; the address of the API. */
  async #startOurs(): Promise<string> {
    const settings = this.#settings;
    const master = settings.agent.master === 'allow' ? await import('./master-agent.ts') : undefined;
    const gateway = await master?.gatewayBeside(settings);
    const forGateway = given({
      SITEWRIGHT_GATEWAY_HOST: gateway?.host,
      SITEWRIGHT_GATEWAY_PORT: gateway && String(gateway.port),
    });
    const api = this.#run('api', ['api'], /^API ready at (\S+)/, { env: { ...this.#env, ...forGateway } });
    const worker = this.#run('worker', ['worker'], /^worker ready/);
    const masterAgent = async (): Promise<void> => {
      if (master === undefined) return;
      // Its ticket is in the store, which the API prepares.
      await api.ready;
      const withGateway = { ...settings, gateway: { ...settings.gateway, ...gateway } };
      const folder = join(this.#folder, 'master');
      const { args, ready, ...own } = await master.prepareMasterAgent(withGateway, folder, this.#terminal.env);
      if (this.#interrupted.aborted) return;
      await this.#run('master', args, ready, own).ready;
      this.#say('master', `tasks on 'master' run as you (agent.master: allow)`);
    };
    const all = Promise.all([api.ready, worker.ready, masterAgent()]).then(([url]) => url);
    return Promise.race([all, this.#untilInterrupted]);
  }
}

type Say = (name: string, line: string) => void;

function sayer(terminal: Terminal): Say {
  const paint = paintFor(terminal.color);
  return (name, line) => terminal.out(`${paint.strong(name.padEnd(8))}  ${line}\n`);
}

/** The dev server, kept running; undefined when another answers at the address of the settings. */
async function temporalFor(
  settings: Settings,
  options: UpOptions,
  folder: string,
  say: Say,
): Promise<Pick<DevServer, 'address' | 'uiUrl' | 'stop'> | undefined> {
  const { address, namespace, retention_days, ui_url } = settings.temporal;
  const probe = await probeServer(settings.temporal, { namespace, limitMs: 3_000 });
  if (probe.status === 'ready') {
    say('temporal', `Temporal ${probe.serverVersion} answers at ${address}`);
    return undefined;
  }
  if (probe.status === 'no-namespace')
    throw new CliError(
      {
        code: 'no-namespace',
        message: `Temporal at ${address} has no namespace ${namespace}`,
        hint: `temporal operator namespace create --address ${address} --namespace ${namespace}`,
      },
      EXIT.unreachable,
    );
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(host);
  if (!options.startTemporal || !isHere)
    throw new CliError(
      {
        code: 'temporal-unreachable',
        message: `Temporal at ${address} cannot be reached: ${probe.problem}`,
        hint: isHere
          ? 'Start it, or omit --no-temporal.'
          : 'A dev server can only run on this machine: correct temporal.address.',
      },
      EXIT.unreachable,
    );
  const found = await findTemporalBinary({ report: (line) => say('temporal', line) });
  if (found.status === 'missing')
    throw new CliError({ code: 'temporal-missing', message: explainMissing(found) }, EXIT.unreachable);
  const uiPort = ui_url === undefined ? Number(port) + 1000 : Number(new URL(ui_url).port) || 'none';
  const base: DevServerOptions = {
    binary: found.path,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    port: Number(port),
    uiPort: uiPort === 'none' ? uiPort : { preferred: uiPort },
    ...(ui_url === undefined ? {} : { uiNames: [new URL(ui_url).host] }),
    retentionDays: retention_days,
    ...(namespace === 'default' ? {} : { namespaces: [namespace] }),
  };
  return keepRunning(() => startDevServer(base), say);
}

/** Temporal's dev server listens on the loopback address only. */
async function relayToNodes(from: string, to: string): Promise<() => Promise<void>> {
  try {
    return await relay(from, to);
  } catch (error) {
    throw new CliError(
      {
        code: 'cannot-listen',
        message: `nodes cannot reach Temporal at ${from}: ${(error as Error).message}`,
        hint: 'Set gateway.temporal_address to an address of this machine, and a free port.',
      },
      EXIT.unreachable,
    );
  }
}

async function keepRunning(
  start: () => Promise<DevServer>,
  say: Say,
): Promise<Pick<DevServer, 'address' | 'uiUrl' | 'stop'>> {
  let server: DevServer;
  try {
    server = await start();
  } catch (error) {
    if (!(error instanceof DevServerError)) throw error;
    throw new CliError({ code: 'temporal-failed', message: error.message }, EXIT.unreachable);
  }
  const { address, uiUrl } = server;
  say('temporal', `dev server ${server.reused ? 'was running' : 'started'} at ${address}`);
  let stopped = false;
  let restarting: Promise<void> = Promise.resolve();
  let busy = false;
  const watch = setInterval(() => {
    if (stopped || busy || isAlive(server.pid)) return;
    busy = true;
    say('temporal', 'the dev server ended: restarting it');
    // The guard of its Web UI gives its port back.
    restarting = server
      .stop()
      .then(start)
      .then(
        (again) => {
          server = again;
          say('temporal', `dev server restarted at ${again.address}`);
        },
        (error: unknown) => say('temporal', String(error)),
      )
      .finally(() => {
        busy = false;
      });
  }, LOOK_AT_SERVER_MS);
  return {
    address,
    ...given({ uiUrl }),
    async stop() {
      stopped = true;
      clearInterval(watch);
      await restarting;
      await server.stop();
    },
  };
}

function overview(
  apiUrl: string,
  server: Pick<DevServer, 'uiUrl'> | undefined,
  settings: Settings,
  maasUrl: string | undefined,
  token: string | undefined,
): string {
  const ui = server?.uiUrl ?? settings.temporal.ui_url;
  const lines = [
    '',
    // What follows the # is sent to no server; the page exchanges it for its cookie.
    `  Web page      ${apiUrl}/${token === undefined ? '' : `#token=${token}`}`,
    `  API           ${apiUrl}  (docs: ${apiUrl}/docs)`,
    `  Temporal UI   ${ui ?? 'not known: set temporal.ui_url'}`,
    `  MAAS          ${maasUrl ?? 'not set: set maas.url, or start with --simulate-maas'}`,
    '',
    `  next: 'sitewright site create NAME', then 'sitewright site commit NAME FILES'; Ctrl-C stops everything`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether the port is taken; the API reports other problems with the address. */
function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => done(false)));
  });
}

/**
 * The seed file of a simulated MAAS. A JSON file is used unchanged; documents (folders, or YAML) become the region that they were
 * written for (`seedOfSite`), written into `folder`.
 */
async function maasSeedFile(paths: readonly string[], folder: string): Promise<string> {
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) throw usageError(`${path} does not exist`, 'Name a JSON seed, or the documents of a site.');
    if (paths.length === 1 && found.isFile() && !/\.ya?ml$/i.test(path)) return path;
  }
  const { loadSite, readDocumentFiles } = await import('../src/documents/index.ts');
  const { files, diagnostics } = await readDocumentFiles(paths);
  const loaded = loadSite(files, { configuration: 'optional' });
  const errors = [...diagnostics, ...loaded.diagnostics].filter((one) => one.severity === 'error');
  if (!loaded.site) {
    throw new CliError(
      {
        code: 'invalid',
        message: `${paths.join(' ')} has errors: no machines can be created`,
        hint: `'sitewright site check ${paths.join(' ')}' shows all problems.`,
        errors,
      },
      EXIT.invalid,
    );
  }
  const file = join(folder, 'maas-seed.json');
  writeFileSync(file, JSON.stringify(seedOfSite(loaded.site)));
  return file;
}

const LIMIT_MS = 2_000;

/** A worker polls every minute; Temporal lists a dead one for five. */
const POLLS_WITHIN_MS = 120_000;

/** Whether workers take work of the queue that ours would take. A server that does not say has none. */
async function hasWorkers({ temporal }: Pick<Settings, 'temporal'>): Promise<boolean> {
  const connection = Connection.lazy({ ...connectionOptions(temporal), connectTimeout: LIMIT_MS });
  try {
    await connection.ensureConnected();
    const { pollers } = await connection.withDeadline(Date.now() + LIMIT_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace: temporal.namespace,
        taskQueue: { name: ownQueue(temporal) },
        taskQueueType: 1,
      }),
    );
    const oldest = Date.now() - POLLS_WITHIN_MS;
    return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > oldest);
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/** `host:port` */
type Address = string;

/**
 * Passes connections to `from` on to `to`, such as those of nodes to a server that listens on the loopback address only.
 *
 * @throws Error of the system where it cannot listen
 * @returns stops it, and ends its connections
 */
export async function relay(from: Address, to: Address): Promise<() => Promise<void>> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    const upstream = connect(portOf(to), hostOf(to));
    open.add(socket);
    pipeline(socket, upstream, socket, () => open.delete(socket));
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail).listen(portOf(from), hostOf(from), done);
  });
  return () =>
    new Promise((done) => {
      server.close(() => done());
      for (const socket of open) socket.destroy();
    });
}

const portOf = (address: Address): number => Number(address.slice(address.lastIndexOf(':') + 1));
const hostOf = (address: Address): string => address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');

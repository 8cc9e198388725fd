import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { isAlive, withLock } from '../../../scripts/lock.mjs';
import { simulatorKeys } from '../../maas-simulator/oauth.js';
import type { Settings } from '../../platform/settings/index.js';
import {
  type DevServer,
  DevServerError,
  type DevServerOptions,
  startDevServer,
} from '../../platform/temporal/dev-server.js';
import { explainMissing, findTemporalBinary } from '../../platform/temporal/find-server.js';
import { probeServer } from '../../platform/temporal/probe.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { CliError } from '../problem.js';
import type { Terminal } from '../terminal.js';
import { paintFor } from '../views/paint.js';
import { maasSeedFile } from './maas-seed.js';
import { GaveUp, type SupervisedChild, supervise } from './supervised-child.js';

export interface UpOptions {
  readonly startTemporal: boolean;
  readonly simulateMaas: boolean;
  /** What a simulated MAAS has at its first start: a JSON seed, or the documents whose nodes it shall know. */
  readonly maasSeed?: string;
  /** Settings file to hand on. */
  readonly config?: string;
  /** Whether somebody has said where agents keep their journals; otherwise here. */
  readonly hasStateFolder: boolean;
}

/** Folder, in the working directory, for all that is kept here. */
const FOLDER = '.sitewright';
/** In that folder: two systems would write into the same files. */
const LOCK = 'up.lock';
const LOOK_AT_SERVER_MS = 2_000;
/** Real machines take many minutes for each; a trial shall not. */
const SIMULATED_PACE = { commission_ms: 3_000, deploy_ms: 6_000, release_ms: 1_000, erase_ms: 2_000, jitter: 0.3 };

/**
 * Runs a whole system until Ctrl-C or SIGTERM: Temporal's dev server where none answers, a simulated MAAS
 * when asked for, API and worker. Each is a process of its own that is started again when it dies; none
 * outlives this one.
 */
export async function runAll(terminal: Terminal, settings: Settings, options: UpOptions): Promise<ExitCode> {
  const folder = resolve(terminal.cwd, FOLDER);
  await refuseTakenPort(settings);
  return withLock(join(folder, LOCK), () => runIn(folder, terminal, settings, options), {
    onWait: (holder) => {
      throw alreadyUp(folder, holder);
    },
  });
}

/** A second system on this machine must not come as far as its worker: that would take work of the first one. */
async function refuseTakenPort({ api: { host, port } }: Settings): Promise<void> {
  if (port === 0 || !(await isTaken(host, port))) return;
  throw new CliError(
    {
      code: 'cannot-listen',
      message: `something listens on ${host}:${port} already, where the API is to be`,
      hint: `Is a system up already? Then use it: 'sitewright site list'. A second one needs ports of its own: SITEWRIGHT_API_PORT, and SITEWRIGHT_TEMPORAL_ADDRESS for its Temporal server.`,
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
      hint: `End it with Ctrl-C in its terminal, or start this one in another folder. If that process is another program, delete ${join(folder, LOCK)}.`,
    },
    EXIT.conflict,
  );
}

async function runIn(folder: string, terminal: Terminal, settings: Settings, options: UpOptions): Promise<ExitCode> {
  const interrupted = terminal.interrupted();
  const seed =
    options.maasSeed === undefined ? undefined : await maasSeedFile(resolve(terminal.cwd, options.maasSeed), folder);
  const say = sayer(terminal);
  const stops: (() => Promise<unknown>)[] = [];
  const untilInterrupted = new Promise<'interrupted'>((done) => {
    if (interrupted.aborted) done('interrupted');
    interrupted.addEventListener('abort', () => done('interrupted'), { once: true });
  });
  try {
    const env: NodeJS.ProcessEnv = { ...terminal.env };
    if (options.config !== undefined) env.SITEWRIGHT_CONFIG = resolve(terminal.cwd, options.config);
    if (!options.hasStateFolder) env.SITEWRIGHT_AGENT_STATE_DIR = join(folder, 'agent');
    const server = await Promise.race([temporalFor(settings, options, folder, say), untilInterrupted]);
    // A server that is still starting ends with this process.
    if (server === 'interrupted') return EXIT.done;
    if (server) {
      stops.push(server.stop);
      env.SITEWRIGHT_TEMPORAL_ADDRESS = server.address;
      if (server.uiUrl !== undefined) env.SITEWRIGHT_TEMPORAL_UI_URL = server.uiUrl;
    }
    const run = (name: string, args: readonly string[], ready: RegExp): SupervisedChild => {
      const child = supervise({ name, args, env, ready }, say);
      stops.push(() => child.stop());
      return child;
    };
    let maasUrl = settings.maas.url;
    if (options.simulateMaas) {
      const args = ['maas', 'simulate', '--port', String(await freePort()), '--state', join(folder, 'maas.jsonl')];
      args.push('--auto', JSON.stringify(SIMULATED_PACE));
      if (seed !== undefined) args.push('--seed', seed);
      const first = await Promise.race([run('maas', args, /^MAAS simulator\s+(\S+)/).ready, untilInterrupted]);
      if (first === 'interrupted') return EXIT.done;
      maasUrl = first;
      env.SITEWRIGHT_MAAS_URL = maasUrl;
      env.SITEWRIGHT_MAAS_KEY_FILE = await writeKey(folder);
      delete env.SITEWRIGHT_MAAS_KEY;
    }
    const api = run('api', ['api'], /^API ready at (\S+)/);
    const worker = run('worker', ['worker'], /^worker ready/);
    const all = await Promise.race([Promise.all([api.ready, worker.ready]), untilInterrupted]);
    if (all !== 'interrupted') {
      terminal.out(overview(all[0], server, settings, maasUrl));
      await untilInterrupted;
    }
    say('up', 'stopping');
    return EXIT.done;
  } catch (error) {
    if (error instanceof GaveUp)
      throw new CliError(
        {
          code: 'not-started',
          message: error.message,
          hint: "'sitewright doctor' checks everything, each with its fix.",
        },
        EXIT.unreachable,
      );
    throw error;
  } finally {
    // Last come, first to go: the worker may still need Temporal to say goodbye.
    for (const stop of stops.reverse()) await stop();
    say('up', 'everything has ended');
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
  const { address, namespace, ui_url } = settings.temporal;
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
          ? 'Start it, or leave out --no-temporal.'
          : 'A dev server is started on this machine only: correct temporal.address.',
      },
      EXIT.unreachable,
    );
  const found = await findTemporalBinary({ report: (line) => say('temporal', line) });
  if (found.status === 'missing')
    throw new CliError({ code: 'temporal-missing', message: explainMissing(found) }, EXIT.unreachable);
  const base: DevServerOptions = {
    binary: found.path,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    port: Number(port),
    ...(namespace === 'default' ? {} : { namespaces: [namespace] }),
  };
  const uiPort = ui_url === undefined ? Number(port) + 1000 : Number(new URL(ui_url).port) || 'none';
  const start = (): Promise<DevServer> =>
    startDevServer({ ...base, uiPort }).catch((error: unknown) => {
      // Somebody has the usual port of the Web UI: any other will do.
      if (
        error instanceof DevServerError &&
        /address already in use/.test(error.message) &&
        error.message.includes(String(uiPort))
      )
        return startDevServer(base);
      throw error;
    });
  return keepRunning(start, say);
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
    say('temporal', 'the dev server ended: it is started again');
    restarting = start()
      .then(
        (again) => {
          server = again;
          say('temporal', `dev server started again at ${again.address}`);
        },
        (error: unknown) => say('temporal', String(error)),
      )
      .finally(() => {
        busy = false;
      });
  }, LOOK_AT_SERVER_MS);
  return {
    address,
    ...(uiUrl === undefined ? {} : { uiUrl }),
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
): string {
  const ui = server?.uiUrl ?? settings.temporal.ui_url;
  const lines = [
    '',
    `  API           ${apiUrl}  (docs: ${apiUrl}/docs)`,
    `  Temporal UI   ${ui ?? 'not known: set temporal.ui_url'}`,
    `  MAAS          ${maasUrl ?? 'not set: set maas.url, or start with --simulate-maas'}`,
    '',
    `  next: sitewright site create NAME, then sitewright site commit NAME FILES; Ctrl-C ends everything`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether somebody listens there; any other trouble with the address is the API's to tell. */
function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => done(false)));
  });
}

/** Chosen once, so that a simulator that is started again is found where it was. */
function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => done(port));
    });
  });
}

/** The simulator's key where a key belongs: in a file of its owner. */
async function writeKey(folder: string): Promise<string> {
  const file = join(folder, 'maas-simulator.key');
  await writeFile(file, `${simulatorKeys.admin}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return file;
}

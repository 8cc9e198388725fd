import { mkdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { given } from '../src/core/data/given.ts';
import { readPrivate } from '../src/platform/files/private-file.ts';
import { isAlive, withLock } from '../src/platform/processes/lock.ts';
import { loadSettings } from '../src/platform/settings/load-settings.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { createLogger, type Logger } from '../src/platform/telemetry/log.ts';
import { startDevServer } from '../src/platform/temporal/dev-server.ts';
import { ownQueue } from '../src/platform/temporal/own-queue.ts';
import { startApi } from './api.ts';
import { startOrchestrator } from './orchestrator.ts';
import { ListenError } from './parts/listen-error.ts';

/** Everything a demo needs, in this process except Temporal's server. */
export interface DemoSystem {
  readonly folder: string;
  readonly apiUrl: string;
  /** Of the user who runs the demo. */
  readonly token: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string | undefined;
  readonly simulatorUrl: string;
  /** Stops everything; nothing of the demo keeps running. */
  stop(): Promise<void>;
}

interface DemoOptions {
  /** Folder of the data of demos, each in a separate folder. */
  readonly base: string;
  /** The Temporal CLI. */
  readonly binary: string;
  /** Host names of the simulated machines. */
  readonly hosts: readonly string[];
  /** Hosts whose first deployment fails. */
  readonly failing: readonly string[];
  /** Machines take long enough for someone to watch and to pause the run. */
  readonly unhurried: boolean;
}

/** Real machines take many minutes for each of these; a demo should not. */
const UNHURRIED = { commission_ms: 3_000, deploy_ms: 6_000 };
const BRISK = { commission_ms: 1_000, deploy_ms: 2_000 };

/** More than the worker gives its last tasks. */
const STOP_MS = 20_000;

/** Starts the parts in order of dependency. If one fails, stops the started ones. */
export async function startDemo(options: DemoOptions, say: (line: string) => void): Promise<DemoSystem> {
  const folder = await claimFolder(options.base);
  const stops: [part: string, stop: () => Promise<unknown>][] = [
    ['the lock', () => rm(join(folder, PID_FILE), { force: true })],
  ];
  const stop = async (): Promise<void> => {
    for (const [part, end] of stops.splice(0).reverse())
      await within(STOP_MS, end()).catch((error: unknown) => say(`  ${part} did not stop: ${String(error)}`));
  };
  try {
    const server = await startDevServer({
      binary: options.binary,
      databaseFile: join(folder, 'temporal.db'),
      logFile: join(folder, 'temporal.log'),
      // Use the ports that Temporal's command line expects, if free: then it needs no address.
      port: { preferred: 7233 },
      uiPort: { preferred: 8233 },
    });
    stops.push(['Temporal', () => server.stop()]);
    say(`  Temporal    ${server.address}`);

    const simulator = await simulateMaas({
      port: 0,
      seed: { machines: options.hosts.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' })) },
      auto: {
        ...(options.unhurried ? UNHURRIED : BRISK),
        release_ms: 1_000,
        jitter: 0.3,
        fail_comment: 'Installation failed: no disk found to boot from',
        fail_times: { deploy: Object.fromEntries(options.failing.map((host) => [host, 1])) },
      },
    });
    stops.push(['MAAS', () => simulator.close()]);
    say(`  MAAS        ${simulator.url} (simulated: ${options.hosts.length} bare machines)`);

    const settingsWith = (apiPort: number): Settings =>
      demoSettings(folder, {
        SITEWRIGHT_TEMPORAL_ADDRESS: server.address,
        ...given({ SITEWRIGHT_TEMPORAL_UI_URL: server.uiUrl }),
        SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'sitewright.db')}`,
        SITEWRIGHT_MAAS_URL: simulator.url,
        SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
        SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.5',
        SITEWRIGHT_API_PORT: String(apiPort),
        SITEWRIGHT_LOG_LEVEL: 'warn',
        SITEWRIGHT_ACCESS_TOKENS: 'on',
        SITEWRIGHT_ACCESS_LOCAL_TOKEN_FILE: join(folder, 'token'),
      });
    const settings = settingsWith(API_PORT);
    const log: Logger = createLogger(settings.log, 'demo');
    const worker = await startOrchestrator(settings, log);
    stops.push(['the worker', () => worker.stop()]);
    say(`  Worker      polls task queue ${ownQueue(settings.temporal)}`);
    const api = await startApi(settings, log).catch((error: unknown) => {
      if (error instanceof ListenError && error.isTaken) return startApi(settingsWith(0), log);
      throw error;
    });
    stops.push(['the API', () => api.stop()]);
    say(`  API         ${api.url}`);
    return {
      folder,
      apiUrl: api.url,
      token: readPrivate(join(folder, 'token'))?.trim() ?? '',
      temporalAddress: server.address,
      temporalUiUrl: server.uiUrl,
      simulatorUrl: simulator.url,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const PID_FILE = 'demo.pid';
/** Used where it is free. */
const API_PORT = 8080;

/** The first folder that no running demo uses. Two that start at the same moment look one after the other. */
const claimFolder = (base: string): Promise<string> =>
  withLock(resolve(base, 'demo.lock'), () => firstFreeFolder(base), { pollMs: 20 });

async function firstFreeFolder(base: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const folder = resolve(base, number === 1 ? 'demo' : `demo-${number}`);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, PID_FILE);
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (holder > 0 && holder !== process.pid && isAlive(holder)) continue;
    await writeFile(file, String(process.pid));
    return folder;
  }
}

/** A demo is the same for everyone: it ignores the user's settings file and variables. */
function demoSettings(folder: string, env: Record<string, string>): Settings {
  const loaded = loadSettings({ env, cwd: folder });
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problem.message).join('; '));
  return loaded.settings;
}

/** Its timer also keeps the process running until then: a part that waits without one must not end it halfway. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_done, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer within ${ms / 1_000} s`)), ms);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

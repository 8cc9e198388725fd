import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { freePorts } from '../../src/platform/free-port.ts';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';

const run = promisify(execFile);

const VERSION = '1.29.1';
const BUILD = fileURLToPath(new URL('../../.ci/temporal-server', import.meta.url));
const WATCHDOG = fileURLToPath(new URL('../../src/platform/processes/run-with-parent.ts', import.meta.url));
/** As the compose project has it. */
export const DYNAMIC_CONFIG = fileURLToPath(new URL('../../deploy/temporal/dynamic-config.yaml', import.meta.url));

/** `server`, the schema tool `sql`, the `schema` they belong to, and the configuration of Temporal's own images. */
export const serverFolder = (version: string): string => join(cacheFolder(), `temporal-server-${version}`);
const folder = () => serverFolder(VERSION);

/** Temporal's own server, all four services of it in one process. */
export interface TemporalServer {
  /** `host:port` of its front end. */
  readonly address: string;
  /** The process that started it and ends with it. */
  readonly pid: number;
  /** Its log, for a failing test. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Why no server can be started here, to show with skipped tests; undefined when one can. Builds it where
 * `SITEWRIGHT_BUILD_TEMPORAL_SERVER` is 1: about ten minutes, once.
 */
export async function whyNoTemporalServer(): Promise<string | undefined> {
  const there = () => existsSync(join(folder(), 'server')) && existsSync(join(folder(), 'config', 'docker.yaml'));
  if (!there() && process.env.SITEWRIGHT_BUILD_TEMPORAL_SERVER === '1') await run(BUILD);
  if (there()) return undefined;
  return `Tests on Temporal with PostgreSQL skipped: Temporal's server ${VERSION} is not built. 'bash .ci/temporal-server' does it, once; it needs Go.`;
}

/** The place of the server's databases, and the user for them. */
export interface ServerDatabases {
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/**
 * Creates the databases `temporal` and `temporal_visibility` with their schema, starts the server on them with the
 * configuration that Temporal's own image has, and creates the namespace `default`, as the image `auto-setup` does.
 *
 * @param environment environment of the container; the addresses here are added to it
 * @param dynamicConfig file; default: that of the compose project
 */
export async function startTemporalServer(
  databases: ServerDatabases,
  environment: Readonly<Record<string, string>>,
  workFolder: string,
  dynamicConfig = DYNAMIC_CONFIG,
): Promise<TemporalServer> {
  await Promise.all(['temporal', 'temporal_visibility'].map((name) => setUpDatabase(databases, name)));
  const own = join(workFolder, 'temporal');
  await mkdir(own, { recursive: true });
  await cp(join(folder(), 'config'), join(own, 'config'), { recursive: true });
  // Below 32768: the server keeps its own in a `smallint` of PostgreSQL.
  const ports = await freePorts(PORTS.length);
  const env = {
    ...environment,
    PATH: process.env.PATH ?? '',
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    POSTGRES_SEEDS: '127.0.0.1',
    DB_PORT: String(databases.port),
    VISIBILITY_DB_PORT: String(databases.port),
    DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    ...Object.fromEntries(PORTS.map((name, at) => [name, String(ports[at])])),
  };
  const program = [join(folder(), 'server'), '--root', own, '--config', 'config', '--env', 'docker', '--allow-no-auth'];
  return await serveTemporal([...program, 'start'], {
    folder: own,
    address: `127.0.0.1:${ports[0]}`,
    env,
    retention: environment.DEFAULT_NAMESPACE_RETENTION ?? '24h',
  });
}

/** Starts a server, waits until it answers, and creates the namespace `default`. It ends with this process. */
export async function serveTemporal(
  command: readonly string[],
  {
    folder: own,
    address,
    env,
    retention = '24h',
  }: {
    readonly folder: string;
    readonly address: string;
    readonly env: NodeJS.ProcessEnv;
    readonly retention?: string;
  },
): Promise<TemporalServer> {
  const logFile = join(own, 'server.log');
  const log = await open(logFile, 'a');
  const child = spawn(process.execPath, [WATCHDOG, '5000', ...command], {
    cwd: own,
    env,
    // Through its end of this pipe the watchdog notices that we have ended, for whatever reason.
    stdio: ['pipe', 'ignore', log.fd],
  });
  await log.close();
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const server: TemporalServer = {
    address,
    pid: child.pid!,
    log: () => readFile(logFile, 'utf8'),
    async stop() {
      child.stdin?.end();
      await ended;
    },
  };
  try {
    await makeNamespace(address, retention, () => child.exitCode !== null);
    return server;
  } catch (error) {
    await server.stop();
    throw new Error(`Temporal's server did not come up: ${String(error)}\n${(await server.log()).slice(-4_000)}`);
  }
}

/** As the configuration of the image names them; the front end's first. */
const PORTS = [
  'FRONTEND_GRPC_PORT',
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
];

async function setUpDatabase({ port, user, password }: ServerDatabases, name: string): Promise<void> {
  const tool = join(folder(), 'sql');
  const access = ['--plugin', 'postgres12', '--endpoint', '127.0.0.1', '--port', String(port), '--user', user];
  const database = [...access, '--password', password, '--database', name];
  const schema = join(folder(), 'schema', name === 'temporal' ? 'temporal' : 'visibility', 'versioned');
  // Made already where it is named after its owner, as PostgreSQL's image does.
  if (name !== user) await run(tool, [...database, 'create']);
  await run(tool, [...database, 'setup-schema', '--version', '0.0']);
  await run(tool, [...database, 'update-schema', '--schema-dir', schema]);
}

/** The server answers before it is ready: asking until the namespace is usable is the only sign there is. */
async function makeNamespace(address: string, retention: string, hasEnded: () => boolean): Promise<void> {
  const deadline = performance.now() + 200_000;
  for (;;) {
    let connection: Connection | undefined;
    try {
      connection = await Connection.connect({ address, connectTimeout: 2_000 });
      const service = connection.workflowService;
      await service
        .registerNamespace({ namespace: 'default', workflowExecutionRetentionPeriod: msToTs(retention as '720h') })
        .catch((error: Error) => {
          if (!/already exists|already registered/i.test(error.message)) throw error;
        });
      await service.listWorkflowExecutions({ namespace: 'default', pageSize: 1 });
      return;
    } catch (error) {
      if (hasEnded() || performance.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 250));
    } finally {
      await connection?.close();
    }
  }
}

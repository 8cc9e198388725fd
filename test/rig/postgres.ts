import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../src/platform/free-port.ts';
import { memoryFolder } from './memory-folder.ts';

const run = promisify(execFile);
const PREFIX = 'sitewright-pg-';

/**
 * A PostgreSQL server for one test file: a new cluster in a temporary folder, in memory where there is room, reachable on
 * loopback (with a password, so that tests see what users see) and by a unix socket. It trades durability for speed; killing
 * clients is fair, pulling its plug is not.
 */
export class PostgresServer {
  readonly port: number;
  readonly folder: string;
  readonly password: string;
  readonly #process: ChildProcess;
  #databases = 0;
  #copyFiles: Promise<string> | undefined;

  constructor(process: ChildProcess, folder: string, port: number, password: string) {
    this.#process = process;
    this.folder = folder;
    this.port = port;
    this.password = password;
  }

  /** Its main process. */
  get pid(): number {
    return this.#process.pid!;
  }

  url(database: string, password = this.password): string {
    return `postgres://postgres:${password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Through the unix socket in the cluster's folder. */
  socketUrl(database: string): string {
    return `postgres://postgres:${this.password}@/${database}?host=${encodeURIComponent(this.folder)}&port=${this.port}`;
  }

  /** A new database, a copy of `template` where one is named (which must have no open connection); returns its URL. */
  async createDatabase(template = 'template0'): Promise<string> {
    const name = `test_${++this.#databases}`;
    // From version 15 on, copying files is the slower way on a busy server and the faster one here; before, the only one.
    this.#copyFiles ??= this.query('postgres', 'show server_version_num').then(({ rows }) =>
      Number(rows[0].server_version_num) >= 150_000 ? 'strategy file_copy' : '',
    );
    await this.query('postgres', `create database ${name} template ${template} ${await this.#copyFiles}`);
    return this.url(name);
  }

  /** Runs SQL as the owner of everything. */
  async query(database: string, text: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: this.url(database) });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      // Immediate shutdown: nothing here is worth a checkpoint.
      this.#process.kill('SIGQUIT');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Why no server can be started here, to show with skipped tests; undefined when one can. */
export async function whyNoPostgres(): Promise<string | undefined> {
  if ((await findBinaries()) === undefined) {
    return 'PostgreSQL tests skipped: no server binaries (initdb, postgres). Debian: apt-get install -y postgresql';
  }
  if ((await serverUser()) === undefined) {
    return 'PostgreSQL tests skipped: the server refuses root, and there is no setpriv, or no unprivileged user to run it as.';
  }
  return undefined;
}

/** For tests, which need no durability. */
const QUICK = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // As in docker-compose.yml: Temporal alone may have 51 open.
  max_connections: '300',
  shared_buffers: '32MB',
};

/**
 * Starts a server, with its files in `parent`; its caller stops it. It also ends when this process dies.
 *
 * @param settings of postgresql.conf; `{}`: the server's own defaults
 */
export async function startPostgres(
  parent = memoryFolder(),
  settings: Readonly<Record<string, string>> = QUICK,
): Promise<PostgresServer> {
  const [bin, owner] = [await findBinaries(), await serverUser()];
  if (bin === undefined || owner === undefined) throw new Error(await whyNoPostgres());
  const folder = await mkdtemp(join(parent, PREFIX));
  try {
    return await startCluster(bin, owner, folder, settings);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Ends the servers that processes left in `parent` when they died. */
export async function endPostgresIn(parent: string): Promise<void> {
  for (const folder of (await readdir(parent)).filter((name) => name.startsWith(PREFIX))) {
    const pid = Number(
      (await readFile(join(parent, folder, 'data/postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0],
    );
    try {
      if (pid > 0) process.kill(pid, 'SIGQUIT');
    } catch {
      // It ended with its process.
    }
  }
}

async function startCluster(
  bin: string,
  owner: ServerUser,
  folder: string,
  given: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  if (owner.ids !== null) await chown(folder, owner.ids.uid, owner.ids.gid);
  const data = join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  if (owner.ids !== null) await chown(passwordFile, owner.ids.uid, owner.ids.gid);

  const [initdb, ...initdbArguments] = owner.command(join(bin, 'initdb'));
  // A language's order, where the server can, so that a query that leaves the order to the database is seen.
  const { stdout: help } = await run(join(bin, 'initdb'), ['--help']);
  const order = help.includes('--icu-locale') ? ['--locale-provider=icu', '--icu-locale=en'] : [];
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', ...order];
  const trust = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  await run(initdb!, [...initdbArguments, '--no-sync', '-D', data, ...locale, ...trust], { cwd: folder });

  for (let attempt = 1; ; attempt++) {
    try {
      return await serveCluster(bin, owner, folder, password, given);
    } catch (error) {
      // Between the choice of a port and its use, another process may take it.
      if (attempt === 3 || !String(error).includes('Address already in use')) throw error;
    }
  }
}

async function serveCluster(
  bin: string,
  owner: ServerUser,
  folder: string,
  password: string,
  given: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const data = join(folder, 'data');
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    ...given,
    // A leftover server of a killed test run would be invisible; this one is not: it logs who it is.
    cluster_name: 'sitewright-test',
  };
  const [postgres, ...postgresArguments] = owner.command(join(bin, 'postgres'));
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(postgres!, [...postgresArguments, '-D', data, ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await ready(server);
  return new PostgresServer(server, folder, port, password);
}

/** Resolves when the server reports that it accepts connections; rejects with its own words when it ends instead. */
function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code} before it was ready:\n${log}`)));
    server.stderr!.on('data', (chunk: Buffer) => {
      if (log.length < 100_000) log += chunk.toString();
      if (log.includes('database system is ready to accept connections')) resolve();
    });
  });
}

interface ServerUser {
  /** Null when we are not root and the server runs as ourselves. */
  readonly ids: { readonly uid: number; readonly gid: number } | null;
  /** The command line that runs a program as that user, and ends it when we die. */
  command(program: string): string[];
}

/** The server refuses root; there it runs as `postgres` or, without one, as `daemon`. */
async function serverUser(): Promise<ServerUser | undefined> {
  const dieWithUs = ['--pdeathsig', 'QUIT'];
  const setpriv = await firstOnPath('setpriv');
  if (process.getuid?.() !== 0) {
    return { ids: null, command: (program) => (setpriv ? [setpriv, ...dieWithUs, program] : [program]) };
  }
  if (setpriv === undefined) return undefined;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = ['postgres', 'daemon'].map((name) => users.find(([found]) => found === name)).find(Boolean);
  if (user === undefined) return undefined;
  const ids = { uid: Number(user[2]), gid: Number(user[3]) };
  const become = ['--reuid', String(ids.uid), '--regid', String(ids.gid), '--clear-groups'];
  return { ids, command: (program) => [setpriv, ...become, ...dieWithUs, program] };
}

/**
 * Those of `.ci/postgres-versions`, which must be there where they are named; else Debian's, which it keeps off the PATH by major
 * version (the newest is taken), or the PATH's.
 */
async function findBinaries(): Promise<string | undefined> {
  const named = process.env.SITEWRIGHT_TEST_POSTGRES_BIN;
  if (named !== undefined) return named;
  const debian = '/usr/lib/postgresql';
  const versions = await readdir(debian).catch((): string[] => []);
  const folders = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(debian, version, 'bin'));
  for (const folder of [...folders, ...pathFolders()]) {
    const files = await readdir(folder).catch((): string[] => []);
    if (files.includes('initdb') && files.includes('postgres')) return folder;
  }
  return undefined;
}

const pathFolders = (): string[] => (process.env.PATH ?? '').split(':').filter(Boolean);

async function firstOnPath(program: string): Promise<string | undefined> {
  for (const folder of pathFolders()) {
    if ((await readdir(folder).catch((): string[] => [])).includes(program)) return join(folder, program);
  }
  return undefined;
}

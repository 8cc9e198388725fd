/** The two places where an installation can have its data: PostgreSQL, as with docker-compose.yml, and files, as with `up`. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runAfterUs } from '@sitewright/maas-simulator/containers';
import { freePort } from '../src/platform/free-port.ts';
import { devServerArguments } from '../src/platform/temporal/dev-server.ts';
import { probeServer } from '../src/platform/temporal/probe.ts';
import { readComposeFile } from '../test/rig/compose-file.ts';
import { startPostgres, whyNoPostgres } from '../test/rig/postgres.ts';
import { DYNAMIC_CONFIG, startTemporalServer, whyNoTemporalServer } from '../test/rig/temporal-server.ts';
import { temporalBinary } from './dev-server.ts';
import { startProgram } from './processes.ts';

/** Megabytes on disk. */
export interface Sizes {
  readonly temporal: number;
  readonly store: number;
}

/** Temporal and an empty store on one kind of database. */
export interface Databases {
  readonly name: 'file' | 'PostgreSQL';
  readonly address: string;
  readonly storeUrl: string;
  /** Their processes, by kind. */
  readonly pids: { readonly temporal: readonly number[]; readonly postgres: readonly number[] };
  /** After what has to be written is written. */
  sizes(): Promise<Sizes>;
  /** Of Temporal's database: what statements of VACUUM give back is gone. */
  vacuum(): Promise<void>;
  /** Rows of Temporal's tables of histories and of executions. */
  historyRows(): Promise<number>;
  /** Committed transactions so far, in Temporal's databases and in the store; undefined where it is not counted. */
  commits(): Promise<Sizes | undefined>;
  /** Has runs that close from now on removed after some seconds. A server accepts no less than an hour, by its API. */
  keepSeconds(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** By how much removals are spread; 30 minutes by default. */
const JITTER = 'history.retentionTimerJitterDuration';
const MEGABYTE = 1_000_000;
const HISTORY_TABLES = ['history_node', 'history_tree', 'executions', 'current_executions'];
const rowsOf = (tables: readonly string[]): string =>
  `select ${tables.map((table) => `(select count(*) from ${table})`).join(' + ')} as rows`;

/** Debian's PostgreSQL with the server's defaults, and Temporal's server as the compose project has it. */
export async function onPostgres(folder: string): Promise<Databases> {
  const missing = (await whyNoPostgres()) ?? (await whyNoTemporalServer());
  if (missing !== undefined) throw new Error(missing);
  const postgres = await startPostgres(tmpdir(), {});
  runAfterUs('sleep 5; rm -rf -- "$1"', postgres.folder);
  const { environment } = readComposeFile().services.temporal!;
  const dynamicConfig = join(folder, 'dynamic-config.yaml');
  await writeFile(dynamicConfig, `${await readFile(DYNAMIC_CONFIG, 'utf8')}\n${JITTER}:\n  - value: 1s\n`);
  const user = { POSTGRES_USER: 'postgres', POSTGRES_PWD: postgres.password };
  const server = await startTemporalServer(
    { port: postgres.port, user: 'postgres', password: postgres.password },
    { ...environment, ...user },
    folder,
    dynamicConfig,
  );
  await postgres.query('postgres', 'create database sitewright');
  const temporal = ['temporal', 'temporal_visibility'];
  const ask = async (of: (database: string) => string) => {
    const sum = async (names: readonly string[]) => {
      const rows = await Promise.all(names.map((name) => postgres.query('postgres', `select ${of(name)} as value`)));
      return rows.reduce((total, { rows: [row] }) => total + Number(row.value), 0);
    };
    return { temporal: await sum(temporal), store: await sum(['sitewright']) };
  };
  return {
    name: 'PostgreSQL',
    address: server.address,
    storeUrl: postgres.url('sitewright'),
    pids: { temporal: [server.pid], postgres: [postgres.pid] },
    async sizes() {
      await postgres.query('postgres', 'checkpoint');
      const bytes = await ask((name) => `pg_database_size('${name}')`);
      return { temporal: bytes.temporal / MEGABYTE, store: bytes.store / MEGABYTE };
    },
    async vacuum() {
      for (const name of temporal) await postgres.query(name, 'vacuum');
    },
    historyRows: async () => Number((await postgres.query('temporal', rowsOf(HISTORY_TABLES))).rows[0].rows),
    commits: () => ask((name) => `(select xact_commit from pg_stat_database where datname = '${name}')`),
    async keepSeconds(seconds) {
      const { rows } = await postgres.query('temporal', `select data from namespaces where name = 'default'`);
      const data = withRetention(rows[0].data, seconds).toString('hex');
      await postgres.query('temporal', `update namespaces set data = '\\x${data}' where name = 'default'`);
    },
    async stop() {
      await server.stop();
      await postgres.stop();
    },
  };
}

/** Temporal's development server and SQLite, as `sitewright up` has them. */
export async function onFiles(folder: string): Promise<Databases> {
  const binary = await temporalBinary();
  const [history, store] = [join(folder, 'temporal.db'), join(folder, 'store.db')];
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const options = ['--dynamic-config-value', `${JITTER}="1s"`];
  const command = [binary, ...devServerArguments({ databaseFile: history }, { port }), ...options];
  const server = await startProgram(
    folder,
    'temporal',
    command,
    {},
    async () => (await probeServer(address, { namespace: 'default', limitMs: 5_000 })).status === 'ready',
  );
  const inHistory = <T>(use: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(history, { timeout: 30_000 });
    try {
      return use(database);
    } finally {
      database.close();
    }
  };
  const sizeOf = async (file: string): Promise<number> => {
    const database = new DatabaseSync(file, { timeout: 30_000 });
    database.exec('pragma wal_checkpoint(passive)');
    database.close();
    return (await stat(file)).size / MEGABYTE;
  };
  return {
    name: 'file',
    address,
    storeUrl: `sqlite:${store}`,
    pids: { temporal: [server.pid], postgres: [] },
    sizes: async () => ({ temporal: await sizeOf(history), store: await sizeOf(store) }),
    // Without VACUUM, the pages of what was deleted are used again.
    vacuum: async () => undefined,
    historyRows: async () => inHistory((database) => Number(database.prepare(rowsOf(HISTORY_TABLES)).get()!.rows)),
    commits: async () => undefined,
    async keepSeconds(seconds) {
      inHistory((database) => {
        const { data } = database.prepare(`select data from namespaces where name = 'default'`).get()!;
        const changed = withRetention(Buffer.from(data as Uint8Array), seconds);
        database.prepare(`update namespaces set data = ? where name = 'default'`).run(changed);
      });
    },
    stop: () => server.stop(),
  };
}

/**
 * The row of a namespace (NamespaceDetail of Temporal's persistence) with another retention, which is field 1 of its field 2,
 * `config`: a duration with the seconds as field 1. The number keeps its length, so that nothing else of the row changes.
 */
function withRetention(row: Buffer, seconds: number): Buffer {
  const changed = Buffer.from(row);
  const at = placeOf(changed, [2, 1, 1]);
  let length = 1;
  while (changed[at + length - 1]! >= 0x80) length++;
  for (let byte = 0; byte < length; byte++) {
    const isLast = byte === length - 1;
    changed[at + byte] = ((seconds >> (7 * byte)) & 0x7f) | (isLast ? 0 : 0x80);
  }
  return changed;
}

/** Where the value of a field of nested messages starts, by field numbers. */
function placeOf(message: Buffer, path: readonly number[]): number {
  let [at, end] = [0, message.length];
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  for (const [depth, wanted] of path.entries()) {
    for (;;) {
      if (at >= end) throw new Error(`no field ${path.join('.')} in the row of the namespace`);
      const key = varint();
      const isIt = key >> 3 === wanted;
      if (isIt && depth === path.length - 1) return at;
      const length = (key & 7) === 2 ? varint() : 0;
      if (isIt) {
        end = at + length;
        break;
      }
      if ((key & 7) === 0) varint();
      else at += (key & 7) === 1 ? 8 : (key & 7) === 5 ? 4 : length;
    }
  }
  return at;
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, inject } from 'vitest';
import { type OpenStoreOptions, openStore, type Store } from '../../../src/store/index.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../rig/postgres.ts';

const noPostgres = await whyNoPostgres();
if (noPostgres !== undefined) console.warn(noPostgres);

/** A database system under test. Stores opened through it are closed after each test. */
export interface TestBackend {
  readonly dialect: 'sqlite' | 'postgres';
  /** The address of an unused database, with the schema in it by default. */
  newUrl(content?: 'schema' | 'empty'): Promise<string>;
  open(url: string, options?: OpenStoreOptions): Promise<Store>;
  /** A store on a separate database. */
  fresh(): Promise<Store>;
  /** Runs SQL past the store. */
  sql(url: string, text: string): Promise<readonly Record<string, unknown>[]>;
}

/** Runs one suite on both databases; on PostgreSQL only where a server can be started. */
export function describeStore(concept: string, suite: (backend: TestBackend) => void): void {
  describe(`${concept} on SQLite`, () => suite(sqliteBackend()));
  describe.skipIf(noPostgres !== undefined)(`${concept} on PostgreSQL`, () => suite(postgresBackend()));
}

function sqliteBackend(): TestBackend {
  let folder = '';
  let files = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-store-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return backendOf(
    'sqlite',
    async (content) => {
      const url = `sqlite:${join(folder, `${++files}.db`)}`;
      if (content !== 'empty') await (await openStore(url)).close();
      return url;
    },
    async (url, text) => {
      const database = new DatabaseSync(url.slice('sqlite:'.length));
      const rows = database.prepare(text).all();
      database.close();
      return rows;
    },
  );
}

/** One server for all test files of this process: to start one takes longer than most of the files. */
let shared: Promise<PostgresServer> | undefined;

async function sharedServer(): Promise<PostgresServer> {
  const server = await startPostgres(inject('unitFolder'));
  await server.query('postgres', 'create database with_schema template template0');
  await (await openStore(server.url('with_schema'))).close();
  return server;
}

function postgresBackend(): TestBackend {
  let server: PostgresServer;
  const urls: string[] = [];
  beforeAll(async () => {
    shared ??= sharedServer();
    server = await shared;
  });
  afterAll(async () => {
    for (const url of urls) await server.query('postgres', `drop database ${databaseOf(url)} with (force)`);
  });
  return backendOf(
    'postgres',
    async (content) => {
      urls.push(await server.createDatabase(content === 'empty' ? 'template0' : 'with_schema'));
      return urls.at(-1)!;
    },
    async (url, text) => (await server.query(databaseOf(url), text)).rows,
  );
}

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

function backendOf(
  dialect: TestBackend['dialect'],
  newUrl: (content?: 'schema' | 'empty') => Promise<string>,
  sql: TestBackend['sql'],
): TestBackend {
  const open: Store[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
  });
  const openTracked = async (url: string, options?: OpenStoreOptions): Promise<Store> => {
    const store = await openStore(url, options);
    open.push(store);
    return store;
  };
  return { dialect, newUrl, open: openTracked, fresh: async () => openTracked(await newUrl()), sql };
}

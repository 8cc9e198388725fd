import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Backend } from '../backend.ts';
import { StoreError } from '../failure.ts';
import type { OpenStoreOptions } from '../open-options.ts';
import { refuseDamage, refuseDamagedPages } from './damage.ts';
import { sqliteDialect } from './dialect.ts';
import { classifySqliteError } from './errors.ts';
import { checkPlace, identityOf, sizeOf } from './place.ts';
import { settingAside } from './steps.ts';

/** How long (ms) SQLite waits for a lock, which blocks our thread; after that the session waits without blocking. */
const BLOCKING_WAIT = 25;
const PATIENCE = 30_000;
/** In KiB. Node's SQLite has 2,000 by default, too few for the indexes of a large run. */
const CACHE = 16_000;

/**
 * Opens a database file, created if missing, that several processes can share.
 *
 * - WAL: readers never wait for the writer. With `synchronous=NORMAL` a committed change survives a crash of any
 * process (even `kill -9`), because it is in the WAL file when commit returns. Only a power failure or a crash of the
 * operating system can lose the last commits, and even then the file stays intact. `durability: 'power'` is FULL.
 */
export async function openSqlite(file: string, shown: string, options: OpenStoreOptions): Promise<Backend> {
  const inMemory = file === ':memory:';
  const readonly = options.readOnly ?? false;
  let database: DatabaseSync;
  try {
    if (!inMemory) await refuseDamage(file);
    if (!inMemory && options.verify && (await sizeOf(file)) !== undefined)
      await whenFree(() => refuseDamagedPages(file));
    if (!inMemory && !readonly) await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    if (!inMemory && !readonly && (await sizeOf(file)) === undefined) await create(file);
    if (!inMemory && !readonly) await keepToOwner(file);
    database = new DatabaseSync(file, { readOnly: readonly && !inMemory, timeout: BLOCKING_WAIT });
  } catch (error) {
    throw new StoreError(classifySqliteError(error, shown).failure, { cause: error });
  }
  try {
    await whenFree(() => {
      if (!readonly && !inMemory) database.exec('pragma journal_mode = wal');
      database.exec(`pragma synchronous = ${options.durability === 'power' ? 'full' : 'normal'}`);
      database.exec('pragma foreign_keys = on');
      database.exec(`pragma cache_size = -${CACHE}`);
      database.exec('pragma journal_size_limit = 67108864');
      refuseForeign(database, file);
    });
  } catch (error) {
    database.close();
    throw new StoreError(classifySqliteError(error, shown).failure, { cause: error });
  }

  const opened = inMemory ? undefined : await identityOf(file);
  return {
    name: 'sqlite',
    location: shown,
    replacing: `Stop every Sitewright process, then run: ${settingAside(file)}`,
    dialect: sqliteDialect(database),
    columnTypes: {
      text: sql`text`,
      integer: sql`integer`,
      bytes: sql`blob`,
      serial: sql`integer primary key autoincrement`,
    },
    patience: PATIENCE,
    usualMigrations: 'apply',
    classify: (error) => classifySqliteError(error, shown),
    checkPlace: async () => (inMemory ? undefined : checkPlace(file, opened)),
    async hasTable(db, name) {
      const found = await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(db);
      return found.rows.length > 0;
    },
    // The migrating transaction is immediate: it already has SQLite's only write lock.
    lockForMigration: async () => {},
  };
}

/**
 * Makes an empty database, which appears under its name when it is one. So an empty file is never ours: it was a database.
 */
async function create(file: string): Promise<void> {
  const made = `${file}.${randomUUID()}`;
  try {
    await (await open(made, 'wx', 0o600)).close();
    const database = new DatabaseSync(made);
    try {
      database.exec('pragma journal_mode = wal');
    } finally {
      database.close();
    }
    // Another process may have been faster.
    await link(made, file)
      .catch(() => copyFile(made, file, constants.COPYFILE_EXCL))
      .catch(unlessThere);
  } finally {
    await rm(made, { force: true });
  }
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}

/** Tables of another program get none of ours among them. */
function refuseForeign(database: DatabaseSync, file: string): void {
  const names = database.prepare("select name from sqlite_master where type = 'table'").all();
  const tables = names.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
  if (tables.length === 0 || tables.includes('sitewright_migration')) return;
  throw new StoreError({
    kind: 'schema-foreign',
    message: `The database ${file} is of another program: it has a table "${tables[0]}", and none of Sitewright.`,
    hint: 'Name another file in store.url.',
  });
}

/** Creates the file for its owner alone, whatever folder it is in: SQLite gives its additional files the same mode. */
async function keepToOwner(file: string): Promise<void> {
  const made = await open(file, 'a', 0o600);
  try {
    const { mode } = await made.stat();
    if ((mode & 0o077) !== 0) await made.chmod(mode & 0o700);
  } finally {
    await made.close();
  }
}

/** Switching a new file to WAL fails immediately, whatever the timeout, while another process does the same. */
async function whenFree(configure: () => void): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      configure();
      return;
    } catch (error) {
      if (classifySqliteError(error, '').retry !== 'transaction' || performance.now() > deadline) throw error;
    }
    await delay(5 + Math.random() * 20);
  }
}

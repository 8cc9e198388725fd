import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { shellWord } from '../../core/text/text.ts';
import type { Backend } from '../backend.ts';
import { StoreError } from '../failure.ts';
import type { OpenStoreOptions } from '../open-store.ts';
import { sqliteDialect } from './dialect.ts';
import { classifySqliteError } from './errors.ts';
import { checkPlace, identityOf } from './place.ts';

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
    if (!inMemory && !readonly) await mkdir(dirname(file), { recursive: true, mode: 0o700 });
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
    });
  } catch (error) {
    database.close();
    throw new StoreError(classifySqliteError(error, shown).failure, { cause: error });
  }

  const opened = inMemory ? undefined : await identityOf(file);
  return {
    name: 'sqlite',
    location: shown,
    replacing: `Stop every Sitewright process, then run: mv ${shellWord(file)} ${shellWord(`${file}.old`)}`,
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

import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { CompiledQuery, type DatabaseConnection, SqliteAdapter, SqliteDialect, SqliteDriver, sql } from 'kysely';
import type { Backend } from '../backend.ts';
import { StoreError } from '../failure.ts';
import type { OpenStoreOptions } from '../open-store.ts';
import { classifySqliteError } from './errors.ts';
import { checkPlace, identityOf } from './place.ts';

/** How long (ms) SQLite waits for a lock, which blocks our thread; after that the session waits without blocking. */
const BLOCKING_WAIT = 25;
const PATIENCE = 30_000;
const CACHED_STATEMENTS = 256;

/**
 * Opens a database file, created if missing, that several processes can share.
 *
 * - WAL: readers never wait for the writer. With `synchronous=NORMAL` a committed change survives a crash of any
 * process (even `kill -9`), because it is in the WAL file when commit returns. Only a power failure or a crash of the
 * operating system can lose the last commits, and even then the file stays intact. `durability: 'power'` is FULL.
 * - Write transactions are immediate: they take the lock at their start, where a retry costs nothing, never in the
 * middle, where SQLite could only abort.
 */
export async function openSqlite(file: string, shown: string, options: OpenStoreOptions): Promise<Backend> {
  const inMemory = file === ':memory:';
  const readonly = options.readOnly ?? false;
  let database: Database.Database;
  try {
    if (!inMemory && !readonly) await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    if (!inMemory && !readonly) await keepToOwner(file);
    database = new Database(file, { readonly: readonly && !inMemory, timeout: BLOCKING_WAIT });
  } catch (error) {
    throw new StoreError(classifySqliteError(error, shown).failure, { cause: error });
  }
  try {
    await whenFree(() => {
      if (!readonly && !inMemory) database.pragma('journal_mode = WAL');
      database.pragma(`synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'}`);
      database.pragma('foreign_keys = ON');
      database.pragma('journal_size_limit = 67108864');
    });
  } catch (error) {
    database.close();
    throw new StoreError(classifySqliteError(error, shown).failure, { cause: error });
  }

  const opened = inMemory ? undefined : await identityOf(file);
  return {
    name: 'sqlite',
    location: shown,
    dialect: new ImmediateSqliteDialect(database),
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

/** Creates the file for its owner alone, whatever folder it is in: SQLite gives what it adds beside it the same mode. */
async function keepToOwner(file: string): Promise<void> {
  const made = await open(file, 'a', 0o600);
  try {
    const { mode } = await made.stat();
    if ((mode & 0o077) !== 0) await made.chmod(mode & 0o700);
  } finally {
    await made.close();
  }
}

/** Switching a new file to WAL fails at once, whatever the timeout, while another process does the same. */
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

class ImmediateSqliteDialect extends SqliteDialect {
  readonly #database: Database.Database;

  constructor(database: Database.Database) {
    super({ database });
    this.#database = database;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateSqliteDriver(this.#database);
  }

  override createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  readonly #database: Database.Database;

  constructor(database: Database.Database) {
    super({ database: cachingStatements(database) });
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** SQLite itself rolls back on a full disk and similar errors; a second rollback would hide the error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

/**
 * Kysely prepares every statement each time. We have few distinct texts, and preparing most of them costs more than
 * running them.
 */
function cachingStatements(database: Database.Database) {
  const statements = new Map<string, Database.Statement<unknown[]>>();
  return {
    close: () => void database.close(),
    prepare(text: string): Database.Statement<unknown[]> {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const oldest = statements.size >= CACHED_STATEMENTS ? statements.keys().next().value : undefined;
      if (oldest !== undefined) statements.delete(oldest);
      const prepared = database.prepare<unknown[]>(text);
      statements.set(text, prepared);
      return prepared;
    },
  };
}

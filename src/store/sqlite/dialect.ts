import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';

const CACHED_STATEMENTS = 256;

/**
 * Kysely's dialect over Node's own SQLite. Write transactions are immediate: they take the lock at their start, where a
 * retry costs nothing, never in the middle, where SQLite could only abort.
 */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createDriver: () => new ImmediateDriver(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: cachingStatements(database) });
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** SQLite itself rolls back on a full disk and similar errors; a second rollback would hide the error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

/**
 * Kysely prepares every statement each time. We have few distinct texts, and preparing most of them costs more than
 * running them.
 */
function cachingStatements(database: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const oldest = statements.size >= CACHED_STATEMENTS ? statements.keys().next().value : undefined;
      if (oldest !== undefined) statements.delete(oldest);
      const prepared = statementOf(database, text);
      statements.set(text, prepared);
      return prepared;
    },
  };
}

/** A statement in the shape that Kysely's driver calls. Ours bind no other values than SQLite has. */
function statementOf(database: DatabaseSync, text: string): SqliteStatement {
  const statement = database.prepare(text);
  return {
    reader: statement.columns().length > 0,
    all: (values) => statement.all(...(values as readonly SQLInputValue[])),
    run: (values) => statement.run(...(values as readonly SQLInputValue[])),
    iterate: (values) => statement.iterate(...(values as readonly SQLInputValue[])),
  };
}

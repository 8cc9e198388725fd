import type { Dialect, Kysely, RawBuilder } from 'kysely';
import type { StoreFailure } from './failure.ts';
import type { Tables } from './tables.ts';

/** The two databases the store runs on. */
type DialectName = 'sqlite' | 'postgres';

/** The column types our tables use, by each database's SQL name. */
export interface ColumnTypes {
  /** Text compared byte by byte, so that both databases sort alike whatever their locale. */
  readonly text: RawBuilder<unknown>;
  /** At least 53 bits: read back as a JavaScript number. */
  readonly integer: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** A primary key that the database numbers from 1; a number is never reused. */
  readonly serial: RawBuilder<unknown>;
}

/** A driver's error, classified. */
export interface ClassifiedError {
  readonly failure: StoreFailure;
  /**
   * `transaction`: rolled back because of concurrent work; retry it as a whole. `connection`: the connection broke; a
   * read may be retried, a write only if it had not started. `never`: a retry would fail the same way.
   */
  readonly retry: 'transaction' | 'connection' | 'never';
}

/** Everything that differs between the databases; the rest is written once, with Kysely. */
export interface Backend {
  readonly name: DialectName;
  /** For messages: the address without its password. */
  readonly location: string;
  readonly dialect: Dialect;
  readonly columnTypes: ColumnTypes;
  /** The step that puts an empty database in its place; the old one is kept. */
  readonly replacing: string;
  /** How long to retry a write that others block, in ms. */
  readonly patience: number;
  /** Used when a program opens a store without choosing how to migrate. */
  readonly usualMigrations: 'apply' | 'apply-non-breaking';
  classify(error: unknown): ClassifiedError;
  /** Whether changes are still kept. @throws StoreError `removed`, `full` */
  checkPlace(): Promise<void>;
  hasTable(db: Kysely<Tables>, name: string): Promise<boolean>;
  /**
   * The first call of a migrating transaction. Returns once no other process migrates; the lock lasts until the
   * transaction ends.
   */
  lockForMigration(transaction: Kysely<Tables>): Promise<void>;
}

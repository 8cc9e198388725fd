import type { Dialect, Kysely, RawBuilder } from 'kysely';
import type { StoreFailure } from './failure.js';
import type { Tables } from './tables.js';

/** The two databases the store runs on. */
export type DialectName = 'sqlite' | 'postgres';

/** SQL names of the few column types our tables are made of, as each database calls them. */
export interface ColumnTypes {
  /** Text compared byte by byte, so that both databases sort alike whatever their locale. */
  readonly text: RawBuilder<unknown>;
  /** At least 53 bits: read back as a JavaScript number. */
  readonly integer: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** A primary key that the database numbers from 1 up; a number is never given twice. */
  readonly serial: RawBuilder<unknown>;
}

/** A driver's error in our words. */
export interface ClassifiedError {
  readonly failure: StoreFailure;
  /**
   * `transaction`: it was rolled back as a whole because others were at work; do it again.
   * `connection`: the connection broke; a read may be repeated, a write only if it had not begun.
   * `never`: doing it again gives the same.
   */
  readonly retry: 'transaction' | 'connection' | 'never';
}

/** All that differs between the databases. Everything else is written once, with Kysely. */
export interface Backend {
  readonly name: DialectName;
  /** For messages: the address without its password. */
  readonly location: string;
  readonly dialect: Dialect;
  readonly columnTypes: ColumnTypes;
  /** How long a write may be repeated while others are at work, in ms. */
  readonly patience: number;
  /** When a program opens a store and says nothing about migrations. */
  readonly usualMigrations: 'apply' | 'apply-non-breaking';
  classify(error: unknown): ClassifiedError;
  hasTable(db: Kysely<Tables>, name: string): Promise<boolean>;
  /** First act of a migrating transaction: returns once no other process migrates; held until its end. */
  lockForMigration(transaction: Kysely<Tables>): Promise<void>;
}

import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../backend.js';
import type { MigrationInfo } from '../ports/store.js';

/**
 * One numbered step of the schema, a module of its own named `NNNN-what.ts`, with a folder of that name beside it when
 * it is long. Released ones never change: a correction is the next number. A step uses the schema builder and
 * `columnTypes` only, so that it runs on both databases.
 */
export interface Migration extends MigrationInfo {
  up(db: Kysely<unknown>, columnTypes: ColumnTypes): Promise<void>;
}

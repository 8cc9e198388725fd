import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../backend.ts';
import type { MigrationInfo } from '../store.ts';

/**
 * One numbered schema step in a module named `NNNN-name.ts`, with a folder of the same name if it is long. A
 * released step never changes; corrections get the next number. A step uses only the schema builder and `columnTypes`,
 * so that it runs on both databases.
 */
export interface Migration extends MigrationInfo {
  up(db: Kysely<unknown>, columnTypes: ColumnTypes): Promise<void>;
}

import { clusterTables } from './tables/cluster-tables.ts';
import {
  type ChangeOf,
  count,
  type NewOf,
  type NewRowOf,
  type OwnOf,
  type RecordOf,
  type RowOf,
  type TableOf,
  text,
  time,
} from './tables/column.ts';
import { graphTables } from './tables/graph-tables.ts';
import { identityTables } from './tables/identity-tables.ts';
import { packageTables } from './tables/package-tables.ts';
import { runTables } from './tables/run-tables.ts';
import { siteTables } from './tables/site-tables.ts';

/** All tables with their columns; `test/unit/store/schema.test.ts` compares them with the migrated schema. */
export const tables = {
  sitewrightMigration: { version: count(), name: text(), breaking: count(), appliedAt: time() },
  ...siteTables,
  ...runTables,
  ...packageTables,
  ...clusterTables,
  ...graphTables,
  ...identityTables,
};

type Declared = typeof tables;
export type TableName = keyof Declared;

/** The tables as Kysely sees them. */
export type Tables = { [T in TableName]: TableOf<Declared[T]> };
/** A row as stored. */
export type Row<T extends TableName> = RowOf<Declared[T]>;
export type NewRow<T extends TableName> = NewRowOf<Declared[T]>;
/** A row as callers see it, decoded. */
export type Stored<T extends TableName> = RecordOf<Declared[T]>;
/** Fields to create a row. */
export type New<T extends TableName> = NewOf<Declared[T]>;
/** Fields to change a row. An absent field keeps its value; a list or mapping replaces the stored one. */
export type Change<T extends TableName> = ChangeOf<Declared[T]>;
/** Fields that the store adds to a new row. */
export type Own<T extends TableName> = OwnOf<Declared[T]>;

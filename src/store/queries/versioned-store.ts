import type { Transaction } from 'kysely';
import { conflict } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { Change, NewRow, Row, Tables } from '../tables.ts';
import { changedColumns, recordOf } from './conversion.ts';
import { assertRow, findRow, holdRow, insertRow, listRows, readRow, updateRow } from './identified-row.ts';

type Versioned = Pick<Row<'release' | 'plugin'>, 'name' | 'version' | 'packageId'>;

/** Rows with a unique pair of name and version, optionally from a package. */
export class VersionedStore<T extends 'release' | 'plugin'> {
  readonly #session: Session;
  readonly #table: T;

  constructor(session: Session, table: T) {
    this.#session = session;
    this.#table = table;
  }

  get(id: number) {
    return this.#session.read(async (db) => recordOf(this.#table, await readRow(db, this.#table, id)));
  }

  find(name: string, version: string) {
    return this.#session.read(async (db) => {
      const row = await findRow<'release' | 'plugin'>(db, this.#table, { name, version });
      return row === undefined ? null : recordOf(this.#table, row as Row<T>);
    });
  }

  /** By id, ascending. */
  list({ ids, packageId }: { readonly ids?: readonly number[]; readonly packageId?: number } = {}) {
    return this.#session.read(async (db) => {
      const rows = await listRows<'release' | 'plugin'>(db, this.#table, { id: ids, packageId });
      return rows.map((row) => recordOf(this.#table, row as Row<T>));
    });
  }

  /**
   * An absent field keeps its value; a given mapping replaces the stored one as a whole.
   * @throws `conflict` when the new name and version are taken.
   */
  async update(id: number, change: Change<T>) {
    const check = new InputCheck();
    const columns = changedColumns(this.#table, check, change);
    check.done();
    return this.#session.write(async (transaction) => {
      const present = await holdRow<'release' | 'plugin'>(transaction, this.#table, id);
      const { name = present.name, version = present.version }: Partial<Versioned> = columns;
      await assertPackage(transaction, columns.packageId);
      const same = await listRows<'release' | 'plugin'>(transaction, this.#table, { name, version });
      if (same.some((other) => other.id !== id)) throw taken(this.#table, name, version);
      const updatedAt = new Date().toISOString();
      return recordOf(this.#table, await updateRow(transaction, this.#table, id, { ...columns, updatedAt }));
    });
  }
}

/** @throws StoreError of kind `conflict` when name and version are taken; `not-found` for the package */
export async function insertVersion<T extends 'release' | 'plugin'>(
  transaction: Transaction<Tables>,
  table: T,
  row: NewRow<T> & Versioned,
): Promise<Row<T>> {
  await assertPackage(transaction, row.packageId);
  return insertRow(transaction, table, row, () => taken(table, row.name, row.version));
}

async function assertPackage(transaction: Transaction<Tables>, id: number | null | undefined): Promise<void> {
  if (id != null) await assertRow(transaction, 'package', id);
}

const taken = (kind: string, name: string, version: string) =>
  conflict(
    `There is a ${kind} "${name}" with version ${version} already.`,
    'Change the existing one, or choose another version.',
  );

import { sql } from 'kysely';
import { storeIn } from '../../../src/store/open-store.ts';
import { Session } from '../../../src/store/session.ts';
import { openSqlite } from '../../../src/store/sqlite/backend.ts';
import type { Store } from '../../../src/store/store.ts';

/** A store in memory that can be backed up, and brought back to its last copy. */
export interface CopiedStore {
  readonly store: Store;
  copy(): Promise<void>;
  /** Nothing that was written since the copy is left, nor numbers that were given. */
  restore(): Promise<void>;
}

export async function openCopiedStore(): Promise<CopiedStore> {
  const session = new Session(await openSqlite(':memory:', ':memory:', {}));
  const store = await storeIn(session);
  const tables = await session.read(async (db) => {
    const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
    return rows.map(({ name }) => name);
  });
  const copyOf = (name: string) => sql.table(`copy_of_${name}`);
  return {
    store,
    copy: () =>
      session.write(async (transaction) => {
        for (const name of tables) {
          await sql`drop table if exists temp.${copyOf(name)}`.execute(transaction);
          await sql`create temporary table ${copyOf(name)} as select * from main.${sql.table(name)}`.execute(
            transaction,
          );
        }
      }),
    restore: () =>
      session.write(async (transaction) => {
        await sql`pragma defer_foreign_keys = on`.execute(transaction);
        for (const name of tables) await sql`delete from main.${sql.table(name)}`.execute(transaction);
        for (const name of tables)
          await sql`insert into main.${sql.table(name)} select * from temp.${copyOf(name)}`.execute(transaction);
      }),
  };
}

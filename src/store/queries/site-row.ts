import type { Kysely, Transaction } from 'kysely';
import { notFound, type StoreError } from '../failure.ts';
import { isSiteName } from '../input.ts';
import type { Row, Tables } from '../tables.ts';

const siteNotFound = (name: string): StoreError => notFound('site', name, 'List the sites, or create this one first.');

/** @throws StoreError of kind `not-found` */
export async function readSite(db: Kysely<Tables>, name: string): Promise<Row<'site'>> {
  const row = isSiteName(name)
    ? await db.selectFrom('site').selectAll().where('name', '=', name).executeTakeFirst()
    : undefined;
  if (row === undefined) throw siteNotFound(name);
  return row;
}

/**
 * Reads a site and locks it for this transaction: others that want to lock it wait. Uses an update that changes
 * nothing, because SQLite has no `for update`.
 *
 * @throws StoreError of kind `not-found`
 */
export async function holdSite(transaction: Transaction<Tables>, name: string): Promise<Row<'site'>> {
  const row = isSiteName(name)
    ? await transaction
        .updateTable('site')
        .set((column) => ({ createdAt: column.ref('createdAt') }))
        .where('name', '=', name)
        .returningAll()
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw siteNotFound(name);
  return row;
}

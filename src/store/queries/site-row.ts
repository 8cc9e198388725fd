import type { Kysely, Transaction } from 'kysely';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { notFound, type StoreError } from '../failure.ts';
import { isSiteName } from '../input.ts';
import type { Row, Tables } from '../tables.ts';

/** Names among which a suggestion is looked for. */
const MOST_NAMES = 1000;

async function siteNotFound(db: Kysely<Tables>, name: string): Promise<StoreError> {
  const sites = await db.selectFrom('site').select('name').orderBy('name').limit(MOST_NAMES).execute();
  const known = sites.map((one) => one.name);
  return notFound('site', name, didYouMean(name, known) ?? 'List the sites, or create this one first.');
}

/** @throws StoreError of kind `not-found` */
export async function readSite(db: Kysely<Tables>, name: string): Promise<Row<'site'>> {
  const row = isSiteName(name)
    ? await db.selectFrom('site').selectAll().where('name', '=', name).executeTakeFirst()
    : undefined;
  if (row === undefined) throw await siteNotFound(db, name);
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
  if (row === undefined) throw await siteNotFound(transaction, name);
  return row;
}

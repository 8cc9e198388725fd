import type { Kysely, Transaction } from 'kysely';
import type { ClaimHolder, ClaimResult, SiteClaim, SiteClaimStore } from '../ports/site-claim-store.js';
import type { Session } from '../session.js';
import type { Tables } from '../tables.js';
import { checkedHolder, sameHolder } from './claim-holder.js';
import { holdSite, readSite } from './site-row.js';

/** SiteClaimStore on either database. Whoever changes a claim holds the site's row first, so one comes after the other. */
export class SqlSiteClaimStore implements SiteClaimStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async claim(site: string, holder: ClaimHolder): Promise<ClaimResult> {
    const wanted = checkedHolder('', holder);
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      const present = await readClaim(transaction, site);
      if (present !== null)
        return sameHolder(present, wanted) ? { claimed: true } : { claimed: false, holder: present };
      await writeClaim(transaction, site, wanted);
      return { claimed: true };
    });
  }

  async takeOver(site: string, expected: ClaimHolder, next: ClaimHolder) {
    const from = checkedHolder('expected.', expected);
    const to = checkedHolder('next.', next);
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      const present = await readClaim(transaction, site);
      if (present !== null && sameHolder(present, to)) return { claimed: true } as const;
      if (present === null || !sameHolder(present, from)) return { claimed: false, holder: present } as const;
      await writeClaim(transaction, site, to);
      return { claimed: true } as const;
    });
  }

  async release(site: string, holder: ClaimHolder): Promise<boolean> {
    const { workflowId, runId } = checkedHolder('', holder);
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      const { numDeletedRows } = await transaction
        .deleteFrom('siteClaim')
        .where('site', '=', site)
        .where('workflowId', '=', workflowId)
        .where('runId', '=', runId)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    });
  }

  holder(site: string): Promise<SiteClaim | null> {
    return this.#session.read(async (db) => {
      await readSite(db, site);
      return readClaim(db, site);
    });
  }

  list(): Promise<readonly SiteClaim[]> {
    return this.#session.read((db) => db.selectFrom('siteClaim').selectAll().orderBy('site').execute());
  }
}

async function readClaim(db: Kysely<Tables>, site: string): Promise<SiteClaim | null> {
  return (await db.selectFrom('siteClaim').selectAll().where('site', '=', site).executeTakeFirst()) ?? null;
}

async function writeClaim(transaction: Transaction<Tables>, site: string, holder: ClaimHolder): Promise<void> {
  const claim = { ...holder, claimedAt: new Date().toISOString() };
  await transaction
    .insertInto('siteClaim')
    .values({ site, ...claim })
    .onConflict((on) => on.column('site').doUpdateSet(claim))
    .execute();
}

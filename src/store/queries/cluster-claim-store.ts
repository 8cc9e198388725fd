import type { Kysely, Transaction } from 'kysely';
import type { ClusterClaim, ClusterClaimStore } from '../ports/cluster-claim-store.js';
import type { ClaimHolder } from '../ports/site-claim-store.js';
import type { Session } from '../session.js';
import type { Tables } from '../tables.js';
import { checkedHolder, sameHolder } from './claim-holder.js';
import { assertRow, holdRow } from './identified-row.js';

/** ClusterClaimStore on either database. Whoever changes a claim holds the cluster's row first. */
export class SqlClusterClaimStore implements ClusterClaimStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async claim(clusterId: number, holder: ClaimHolder) {
    const wanted = checkedHolder('', holder);
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'cluster', clusterId);
      const present = await readClaim(transaction, clusterId);
      if (present !== null && !sameHolder(present, wanted)) return { claimed: false, holder: present } as const;
      if (present === null) await writeClaim(transaction, clusterId, wanted);
      return { claimed: true } as const;
    });
  }

  async takeOver(clusterId: number, expected: ClaimHolder, next: ClaimHolder) {
    const from = checkedHolder('expected.', expected);
    const to = checkedHolder('next.', next);
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'cluster', clusterId);
      const present = await readClaim(transaction, clusterId);
      if (present !== null && sameHolder(present, to)) return { claimed: true } as const;
      if (present === null || !sameHolder(present, from)) return { claimed: false, holder: present } as const;
      await writeClaim(transaction, clusterId, to);
      return { claimed: true } as const;
    });
  }

  async release(clusterId: number, holder: ClaimHolder): Promise<boolean> {
    const { workflowId, runId } = checkedHolder('', holder);
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'cluster', clusterId);
      const { numDeletedRows } = await transaction
        .deleteFrom('clusterClaim')
        .where('clusterId', '=', clusterId)
        .where('workflowId', '=', workflowId)
        .where('runId', '=', runId)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    });
  }

  holder(clusterId: number): Promise<ClusterClaim | null> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'cluster', clusterId);
      return readClaim(db, clusterId);
    });
  }

  list(): Promise<readonly ClusterClaim[]> {
    return this.#session.read((db) => db.selectFrom('clusterClaim').selectAll().orderBy('clusterId').execute());
  }
}

async function readClaim(db: Kysely<Tables>, clusterId: number): Promise<ClusterClaim | null> {
  return (
    (await db.selectFrom('clusterClaim').selectAll().where('clusterId', '=', clusterId).executeTakeFirst()) ?? null
  );
}

async function writeClaim(transaction: Transaction<Tables>, clusterId: number, holder: ClaimHolder): Promise<void> {
  const claim = { ...holder, claimedAt: new Date().toISOString() };
  await transaction
    .insertInto('clusterClaim')
    .values({ clusterId, ...claim })
    .onConflict((on) => on.column('clusterId').doUpdateSet(claim))
    .execute();
}

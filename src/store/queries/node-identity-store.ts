import { InputCheck, storable } from '../input.js';
import type {
  NewEnrolmentToken,
  NodeCertificate,
  NodeIdentityStore,
  SignedOrderKey,
  TokenRedemption,
} from '../ports/node-identity-store.js';
import type { Session } from '../session.js';
import type { New } from '../tables.js';
import { newRow } from './conversion.js';

/** NodeIdentityStore on either database. */
export class SqlNodeIdentityStore implements NodeIdentityStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async addToken(token: NewEnrolmentToken): Promise<void> {
    const check = new InputCheck();
    const row = newRow('enrolmentToken', check, token, { createdAt: new Date().toISOString() });
    check.done();
    await this.#session.write((transaction) =>
      transaction
        .insertInto('enrolmentToken')
        .values(row)
        .onConflict((on) => on.column('hash').doNothing())
        .execute(),
    );
  }

  async redeemToken(hash: string, keyHash: string, at: string): Promise<TokenRedemption> {
    const check = new InputCheck();
    const key = check.key('hash', hash);
    const usedByKey = check.key('keyHash', keyHash);
    const usedAt = check.time('at', at);
    check.done();
    return this.#session.write(async (transaction): Promise<TokenRedemption> => {
      // The update decides who gets the token, not an earlier read.
      const { numUpdatedRows } = await transaction
        .updateTable('enrolmentToken')
        .set({ usedAt, usedByKey })
        .where('hash', '=', key)
        .where('usedAt', 'is', null)
        .where('expiresAt', '>', usedAt)
        .executeTakeFirstOrThrow();
      const token = await transaction
        .selectFrom('enrolmentToken')
        .selectAll()
        .where('hash', '=', key)
        .executeTakeFirst();
      if (token === undefined) return { ok: false, why: 'unknown' };
      const { site, node } = token;
      if (numUpdatedRows > 0n) return { ok: true, site, node, again: false };
      if (token.usedAt !== null && token.usedByKey !== usedByKey) return { ok: false, why: 'used', site, node };
      if (token.expiresAt <= usedAt) return { ok: false, why: 'expired', site, node };
      return { ok: true, site, node, again: true };
    });
  }

  async addCertificate(certificate: New<'nodeCertificate'>): Promise<void> {
    const check = new InputCheck();
    const row = newRow('nodeCertificate', check, certificate, {});
    check.done();
    await this.#session.write((transaction) => transaction.insertInto('nodeCertificate').values(row).execute());
  }

  async findCertificate(fingerprint: string): Promise<NodeCertificate | null> {
    const found = await this.#session.read((db) =>
      db.selectFrom('nodeCertificate').selectAll().where('fingerprint', '=', storable(fingerprint)).executeTakeFirst(),
    );
    return found ?? null;
  }

  listCertificates(site: string, node?: string): Promise<readonly NodeCertificate[]> {
    return this.#session.read((db) => {
      const all = db.selectFrom('nodeCertificate').selectAll().where('site', '=', storable(site));
      return (node === undefined ? all : all.where('node', '=', storable(node)))
        .orderBy('issuedAt', 'desc')
        .orderBy('fingerprint')
        .execute();
    });
  }

  async revoke(request: Parameters<NodeIdentityStore['revoke']>[0]): Promise<number> {
    const check = new InputCheck();
    const [site, node] = [check.key('site', request.site), check.key('node', request.node)];
    const at = check.time('at', request.at);
    check.done();
    return this.#session.write(async (transaction) => {
      let ended = transaction
        .updateTable('nodeCertificate')
        .set({ revokedAt: at, reason: storable(request.reason) })
        .where('site', '=', site)
        .where('node', '=', node)
        .where('revokedAt', 'is', null);
      if (request.except !== undefined) ended = ended.where('fingerprint', '!=', storable(request.except));
      const { numUpdatedRows } = await ended.executeTakeFirstOrThrow();
      if (request.keepTokens !== true)
        await transaction
          .deleteFrom('enrolmentToken')
          .where('site', '=', site)
          .where('node', '=', node)
          .where('usedAt', 'is', null)
          .execute();
      return Number(numUpdatedRows);
    });
  }

  async recordOrder(key: SignedOrderKey, executionHash: string, at: string): Promise<string> {
    const check = new InputCheck();
    const row = newRow('signedOrder', check, key, { executionHash, signedAt: at });
    check.done();
    return this.#session.write(async (transaction) => {
      await transaction
        .insertInto('signedOrder')
        .values(row)
        .onConflict((on) => on.columns(['run', 'node', 'task', 'generation']).doNothing())
        .execute();
      const stored = await transaction
        .selectFrom('signedOrder')
        .select('executionHash')
        .where('run', '=', row.run)
        .where('node', '=', row.node)
        .where('task', '=', row.task)
        .where('generation', '=', row.generation)
        .executeTakeFirstOrThrow();
      return stored.executionHash;
    });
  }
}

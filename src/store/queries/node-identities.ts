import type { Transaction } from 'kysely';
import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored, Tables } from '../tables.ts';
import { newRow } from './conversion.ts';

/** A certificate of a node. */
export type NodeCertificate = Stored<'nodeCertificate'>;

type NewEnrolmentToken = New<'enrolmentToken'>;

/** A token that was given for a node. */
type EnrolmentToken = Pick<
  Stored<'enrolmentToken'>,
  'site' | 'node' | 'expiresAt' | 'usedAt' | 'usedByKey' | 'certificate' | 'revokedAt'
>;

export type TokenRefusal = 'unknown' | 'used' | 'expired' | 'revoked';

interface Enrolment {
  /** Hash of the token. */
  readonly hash: string;
  /** Hash of the key that the certificate is for. */
  readonly keyHash: string;
  readonly at: string;
  readonly certificate: New<'nodeCertificate'>;
  /** Why the node's other certificates end. */
  readonly reason: string;
}

/** Identifies the signed execution. */
type SignedOrderKey = New<'signedOrder'>;

/** The identities of nodes, and the orders signed for them. */
export class NodeIdentityStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Stores a token. An existing one with this hash stays unchanged. */
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

  /** The token with this hash, used or not. */
  async findToken(hash: string): Promise<EnrolmentToken | null> {
    const found = await this.#session.read((db) => tokenIn(db, storable(hash)));
    return found ?? null;
  }

  /**
   * Redeems a token for a key and stores the certificate, atomically: no other key can use the token afterwards, and the
   * node's other certificates and tokens end. The same key may redeem it again while the certificate that it gave is valid
   * and the newest: the first answer may have been lost. Answers why not, or undefined.
   */
  async enrol({ hash, keyHash, at, certificate, reason }: Enrolment): Promise<TokenRefusal | undefined> {
    const check = new InputCheck();
    const key = check.key('hash', hash);
    const usedByKey = check.key('keyHash', keyHash);
    const usedAt = check.time('at', at);
    const row = newRow('nodeCertificate', check, certificate, {});
    check.done();
    const node = { site: row.site, node: row.node };
    return this.#session.write(async (transaction): Promise<TokenRefusal | undefined> => {
      await lockIdentity(transaction, node);
      const token = await tokenIn(transaction, key);
      if (token === undefined || token.site !== node.site || token.node !== node.node) return 'unknown';
      if (token.revokedAt !== null) return 'revoked';
      if (token.usedAt !== null && token.usedByKey !== usedByKey) return 'used';
      if (token.expiresAt <= usedAt) return 'expired';
      if (token.usedAt !== null && !(await isNewest(transaction, node, token.certificate, usedAt))) return 'used';
      await endCertificates(transaction, node, usedAt, reason);
      await transaction.insertInto('nodeCertificate').values(row).execute();
      await transaction
        .updateTable('enrolmentToken')
        .set({ usedAt: token.usedAt ?? usedAt, usedByKey, certificate: row.fingerprint })
        .where('hash', '=', key)
        .execute();
      await spendTokens(transaction, node, usedAt, { except: key });
      return undefined;
    });
  }

  /**
   * Stores a certificate that replaces another of the node, which must be valid at that moment: a renewal never outlives
   * the identity. False if it is not.
   */
  async renew(caller: string, certificate: New<'nodeCertificate'>): Promise<boolean> {
    const check = new InputCheck();
    const row = newRow('nodeCertificate', check, certificate, {});
    check.done();
    return this.#session.write(async (transaction) => {
      await lockIdentity(transaction, row);
      const former = await transaction
        .selectFrom('nodeCertificate')
        .select('fingerprint')
        .where('fingerprint', '=', storable(caller))
        .where('site', '=', row.site)
        .where('node', '=', row.node)
        .where('revokedAt', 'is', null)
        .where('expiresAt', '>', row.issuedAt)
        .executeTakeFirst();
      if (former === undefined) return false;
      await transaction.insertInto('nodeCertificate').values(row).execute();
      return true;
    });
  }

  async findCertificate(fingerprint: string): Promise<NodeCertificate | null> {
    const found = await this.#session.read((db) =>
      db.selectFrom('nodeCertificate').selectAll().where('fingerprint', '=', storable(fingerprint)).executeTakeFirst(),
    );
    return found ?? null;
  }

  /** Newest first; of one node, or of a whole site. */
  listCertificates(site: string, node?: string): Promise<readonly NodeCertificate[]> {
    return this.#session.read((db) => {
      const all = db.selectFrom('nodeCertificate').selectAll().where('site', '=', storable(site));
      return (node === undefined ? all : all.where('node', '=', storable(node)))
        .orderBy('issuedAt', 'desc')
        .orderBy('fingerprint')
        .execute();
    });
  }

  /**
   * Revokes the valid certificates of a node and spends its tokens; of these, `keepUnused` leaves those that no one has
   * used. Returns how many certificates.
   */
  async revoke(request: {
    readonly site: string;
    readonly node: string;
    readonly at: string;
    readonly reason: string;
    readonly keepUnused?: boolean;
  }): Promise<number> {
    const check = new InputCheck();
    const [site, node] = [check.key('site', request.site), check.key('node', request.node)];
    const at = check.time('at', request.at);
    check.done();
    return this.#session.write(async (transaction) => {
      await lockIdentity(transaction, { site, node });
      const ended = await endCertificates(transaction, { site, node }, at, request.reason);
      await spendTokens(transaction, { site, node }, at, request.keepUnused === true ? { onlyUsed: true } : {});
      return ended;
    });
  }

  /** Whether anything was signed under a key. */
  async hasOrder({ run, node, task, generation }: SignedOrderKey): Promise<boolean> {
    const found = await this.#session.read((db) =>
      db
        .selectFrom('signedOrder')
        .select('signedAt')
        .where('run', '=', storable(run))
        .where('node', '=', storable(node))
        .where('task', '=', storable(task))
        .where('generation', '=', generation)
        .executeTakeFirst(),
    );
    return found !== undefined;
  }

  /** Records the signed content of a key, once. Returns the hash of the first one. */
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

interface OfNode {
  readonly site: string;
  readonly node: string;
}

/** Takes the node's row until the transaction ends: changes of one identity come one after the other. */
async function lockIdentity(transaction: Transaction<Tables>, { site, node }: OfNode): Promise<void> {
  await transaction
    .insertInto('nodeIdentity')
    .values({ site, node, changes: 1 })
    .onConflict((on) =>
      on.columns(['site', 'node']).doUpdateSet(({ ref, eb }) => ({ changes: eb(ref('nodeIdentity.changes'), '+', 1) })),
    )
    .execute();
}

const tokenIn = (db: Pick<Transaction<Tables>, 'selectFrom'>, hash: string) =>
  db
    .selectFrom('enrolmentToken')
    .select(['site', 'node', 'expiresAt', 'usedAt', 'usedByKey', 'certificate', 'revokedAt'])
    .where('hash', '=', hash)
    .executeTakeFirst();

/** Whether a certificate of the node is valid, and its only valid one: a renewal shows that the node has it. */
async function isNewest(
  transaction: Transaction<Tables>,
  { site, node }: OfNode,
  fingerprint: string | null,
  at: string,
): Promise<boolean> {
  const valid = await transaction
    .selectFrom('nodeCertificate')
    .select('fingerprint')
    .where('site', '=', site)
    .where('node', '=', node)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', at)
    .execute();
  return valid.length === 1 && valid[0]?.fingerprint === fingerprint;
}

async function endCertificates(
  transaction: Transaction<Tables>,
  { site, node }: OfNode,
  at: string,
  reason: string,
): Promise<number> {
  const { numUpdatedRows } = await transaction
    .updateTable('nodeCertificate')
    .set({ revokedAt: at, reason: storable(reason) })
    .where('site', '=', site)
    .where('node', '=', node)
    .where('revokedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** A spent token stays known: who comes with it is noticed. */
async function spendTokens(
  transaction: Transaction<Tables>,
  { site, node }: OfNode,
  at: string,
  { except, onlyUsed }: { readonly except?: string; readonly onlyUsed?: true },
): Promise<void> {
  let spent = transaction
    .updateTable('enrolmentToken')
    .set({ revokedAt: at })
    .where('site', '=', site)
    .where('node', '=', node)
    .where('revokedAt', 'is', null);
  if (except !== undefined) spent = spent.where('hash', '!=', except);
  if (onlyUsed === true) spent = spent.where('usedAt', 'is not', null);
  await spent.execute();
}

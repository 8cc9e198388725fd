import type { New, Stored } from '../tables.ts';

/** A certificate of a node. */
export type NodeCertificate = Stored<'nodeCertificate'>;

export type NewEnrolmentToken = New<'enrolmentToken'>;

/** A token that was given for a node. */
export type EnrolmentToken = Pick<
  Stored<'enrolmentToken'>,
  'site' | 'node' | 'expiresAt' | 'usedAt' | 'usedByKey' | 'certificate' | 'revokedAt'
>;

export type TokenRefusal = 'unknown' | 'used' | 'expired' | 'revoked';

export interface Enrolment {
  /** Hash of the token. */
  readonly hash: string;
  /** Hash of the key that the certificate is for. */
  readonly keyHash: string;
  readonly at: string;
  readonly certificate: New<'nodeCertificate'>;
  /** Why the node's other certificates end. */
  readonly reason: string;
}

/** Identifies what was signed: an execution. */
export type SignedOrderKey = New<'signedOrder'>;

/** The identities of nodes, and the orders signed for them. */
export interface NodeIdentityStore {
  /** Stores a token. An existing one with this hash stays unchanged. */
  addToken(token: NewEnrolmentToken): Promise<void>;
  /** The token with this hash, used or not. */
  findToken(hash: string): Promise<EnrolmentToken | null>;
  /**
   * Redeems a token for a key and stores the certificate, at once: no other key can use the token afterwards, and the
   * node's other certificates and tokens end. The same key may redeem it again while the certificate that it gave is valid
   * and the newest: the first answer may have been lost. Answers why not, or undefined.
   */
  enrol(enrolment: Enrolment): Promise<TokenRefusal | undefined>;
  /**
   * Stores a certificate that replaces another of the node, which must be valid at that moment: a renewal never outlives
   * the identity. False if it is not.
   */
  renew(caller: string, certificate: New<'nodeCertificate'>): Promise<boolean>;
  findCertificate(fingerprint: string): Promise<NodeCertificate | null>;
  /** Newest first; of one node, or of a whole site. */
  listCertificates(site: string, node?: string): Promise<readonly NodeCertificate[]>;
  /**
   * Revokes the valid certificates of a node and spends its tokens; of these, `keepUnused` leaves those that no one has
   * used. Returns how many certificates.
   */
  revoke(request: {
    readonly site: string;
    readonly node: string;
    readonly at: string;
    readonly reason: string;
    readonly keepUnused?: boolean;
  }): Promise<number>;
  /** Whether anything was signed under a key. */
  hasOrder(key: SignedOrderKey): Promise<boolean>;
  /** Records what was signed under a key, once. Returns the hash of what was signed first. */
  recordOrder(key: SignedOrderKey, executionHash: string, at: string): Promise<string>;
}

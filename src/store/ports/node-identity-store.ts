import type { New, Stored } from '../tables.js';

/** A certificate of a node. */
export type NodeCertificate = Stored<'nodeCertificate'>;

export type NewEnrolmentToken = New<'enrolmentToken'>;

export type TokenRedemption =
  /** `again`: redeemed earlier with the same key; the first answer may have been lost. */
  | { readonly ok: true; readonly site: string; readonly node: string; readonly again: boolean }
  | { readonly ok: false; readonly why: 'unknown' }
  | { readonly ok: false; readonly why: 'used' | 'expired'; readonly site: string; readonly node: string };

/** Identifies what was signed: an execution. */
export type SignedOrderKey = New<'signedOrder'>;

/** The identities of nodes, and the orders signed for them. */
export interface NodeIdentityStore {
  /** Stores a token. An existing one with this hash stays unchanged. */
  addToken(token: NewEnrolmentToken): Promise<void>;
  /** Redeems a token for a key, atomically: no other key can use it afterwards. */
  redeemToken(hash: string, keyHash: string, at: string): Promise<TokenRedemption>;
  addCertificate(certificate: New<'nodeCertificate'>): Promise<void>;
  findCertificate(fingerprint: string): Promise<NodeCertificate | null>;
  /** Newest first; of one node, or of a whole site. */
  listCertificates(site: string, node?: string): Promise<readonly NodeCertificate[]>;
  /**
   * Revokes the valid certificates of a node except one, and its unused tokens unless `keepTokens`. Returns how many
   * certificates.
   */
  revoke(request: {
    readonly site: string;
    readonly node: string;
    readonly at: string;
    readonly reason: string;
    /** Fingerprint. */
    readonly except?: string;
    readonly keepTokens?: boolean;
  }): Promise<number>;
  /** Records what was signed under a key, once. Returns the hash of what was signed first. */
  recordOrder(key: SignedOrderKey, executionHash: string, at: string): Promise<string>;
}

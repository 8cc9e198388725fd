import type { New, Stored } from '../tables.js';

/** A certificate of a node. */
export type NodeCertificate = Stored<'nodeCertificate'>;

export type NewEnrolmentToken = New<'enrolmentToken'>;

export type TokenRedemption =
  /** `again`: by the same key as the first time, whose answer may have been lost. */
  | { readonly ok: true; readonly site: string; readonly node: string; readonly again: boolean }
  | { readonly ok: false; readonly why: 'unknown' }
  | { readonly ok: false; readonly why: 'used' | 'expired'; readonly site: string; readonly node: string };

/** Names what was signed: an execution. */
export type SignedOrderKey = New<'signedOrder'>;

/** How nodes are known, and what they were told. */
export interface NodeIdentityStore {
  /** Keeps a token. One with this hash that is there already stays as it is. */
  addToken(token: NewEnrolmentToken): Promise<void>;
  /** Uses a token up for a key, atomically: nobody else gets in with it afterwards. */
  redeemToken(hash: string, keyHash: string, at: string): Promise<TokenRedemption>;
  addCertificate(certificate: New<'nodeCertificate'>): Promise<void>;
  findCertificate(fingerprint: string): Promise<NodeCertificate | null>;
  /** Newest first; of one node, or of a whole site. */
  listCertificates(site: string, node?: string): Promise<readonly NodeCertificate[]>;
  /** Ends the valid certificates of a node, but one, and, unless told otherwise, its unused tokens. Answers how many certificates. */
  revoke(wish: {
    readonly site: string;
    readonly node: string;
    readonly at: string;
    readonly reason: string;
    /** Fingerprint. */
    readonly except?: string;
    readonly keepTokens?: boolean;
  }): Promise<number>;
  /** Notes what was signed under a key, once. Answers the hash of what was signed first. */
  noteOrder(key: SignedOrderKey, executionHash: string, at: string): Promise<string>;
}

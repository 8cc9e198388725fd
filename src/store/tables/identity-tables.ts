import type { TokenKind } from '../../core/words.ts';
import { choice, count, key, text, time } from './column.ts';

/** How nodes and programs prove their identity. */
export const identityTables = {
  enrolmentToken: {
    /** Hash of the token; the token itself is never stored. */
    hash: key(),
    site: key(),
    node: key(),
    createdAt: time().internal(),
    expiresAt: time(),
    usedAt: time().nullable().internal(),
    usedByKey: key().nullable().internal(),
    /** Fingerprint of the certificate that it gave last. */
    certificate: key().nullable().internal(),
    /** When it was spent without being used, or with the certificate that it gave. */
    revokedAt: time().nullable().internal(),
  },
  /** Every change of a node's identity writes its row first, so that two never pass each other. */
  nodeIdentity: {
    site: key(),
    node: key(),
    changes: count().internal(),
  },
  nodeCertificate: {
    /** SHA-256 over the certificate, lower-case hexadecimal. */
    fingerprint: key(),
    site: key(),
    node: key(),
    issuedAt: time(),
    expiresAt: time(),
    revokedAt: time().nullable().internal(),
    /** Why it was revoked. */
    reason: text().nullable().internal(),
  },
  /** An execution signed for a node. */
  signedOrder: {
    run: key(),
    node: key(),
    task: key(),
    generation: count(),
    executionHash: key().internal(),
    signedAt: time().internal(),
  },
  /** An API token. */
  apiToken: {
    /** ULID; also part of the token itself. */
    id: key(),
    /** Unique among tokens in use, not among sessions; names the actor in the audit trail. */
    name: key(),
    /** A session belongs to a user who signed in. */
    kind: choice<TokenKind>().initially('token'),
    role: key(),
    /** Hash of the token; the token itself is never stored. */
    hash: key(),
    createdAt: time().internal(),
    createdBy: key(),
    /** Null: never. */
    expiresAt: time().nullable(),
    revokedAt: time().nullable().internal(),
    revokedBy: key().nullable().internal(),
    /** Approximate: not every use is recorded. */
    lastUsedAt: time().nullable().internal(),
  },
};

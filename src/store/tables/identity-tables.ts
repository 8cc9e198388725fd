import { count, key, text, time } from './column.js';

/** How nodes and programs prove who they are. */
export const identityTables = {
  enrolmentToken: {
    /** Of the token; the token itself is never stored. */
    hash: key(),
    site: key(),
    node: key(),
    createdAt: time().internal(),
    expiresAt: time(),
    usedAt: time().nullable().internal(),
    usedByKey: key().nullable().internal(),
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
  /** What was signed for a node: an execution. */
  signedOrder: {
    run: key(),
    node: key(),
    task: key(),
    generation: count(),
    executionHash: key().internal(),
    signedAt: time().internal(),
  },
  /** A token of the API. */
  apiToken: {
    /** ULID; also part of the token itself. */
    id: key(),
    /** Of one token at a time: who acts, in the audit trail. */
    name: key(),
    role: key(),
    /** Of the token; the token itself is never stored. */
    hash: key(),
    createdAt: time().internal(),
    createdBy: key(),
    /** Null: never. */
    expiresAt: time().nullable(),
    revokedAt: time().nullable().internal(),
    revokedBy: key().nullable().internal(),
    /** About: not every use is recorded. */
    lastUsedAt: time().nullable().internal(),
  },
};

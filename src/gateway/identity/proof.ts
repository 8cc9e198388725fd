import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { z } from 'zod';
import { stableJson } from '../../agent/journal/execution.ts';

/** A valid order key, as nodes pin it. */
export interface PinnedKey {
  readonly id: string;
  /** PEM. */
  readonly public_key: string;
}

/** The bytes to sign: a purpose, which is a unique prefix, then the statement with sorted keys. */
export const signedBytes = (purpose: string, statement: object): Buffer =>
  Buffer.from(`${purpose}\n${stableJson(statement)}`);

export const signStatement = (purpose: string, statement: object, key: KeyObject): string =>
  writeProof(statement, sign(null, signedBytes(purpose, statement), key));

/** Statement and signature as one text. */
export const writeProof = (statement: object, signature: Uint8Array): string =>
  `${Buffer.from(stableJson(statement)).toString('base64url')}.${Buffer.from(signature).toString('base64url')}`;

/** The inverse of `writeProof`, without verification; undefined for anything else. */
export function readProof<S extends z.ZodType>(
  proof: string,
  schema: S,
): { statement: z.output<S>; signature: Buffer } | undefined {
  const [body, signature, ...more] = proof.split('.');
  if (body === undefined || signature === undefined || more.length > 0 || proof.length > 20_000) return undefined;
  const [content, signed] = [Buffer.from(body, 'base64url'), Buffer.from(signature, 'base64url')];
  // Accept only one encoding: the last base64 character has unused bits.
  if (content.toString('base64url') !== body || signed.toString('base64url') !== signature) return undefined;
  try {
    const statement = schema.safeParse(JSON.parse(content.toString('utf8')));
    return statement.success ? { statement: statement.data, signature: signed } : undefined;
  } catch {
    return undefined;
  }
}

export function isSignedBy(key: PinnedKey, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(null, bytes, createPublicKey(key.public_key), signature);
  } catch {
    return false;
  }
}

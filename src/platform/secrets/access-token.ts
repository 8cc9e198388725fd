import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * A token in the form its bearer has: `swt_`, the id under which it is stored, and 256 random bits. Scanners for leaked
 * secrets, and our own log, recognize the prefix.
 */
const TOKEN = /^swt_([0-9A-HJKMNP-TV-Z]{26})_([\w-]{43})$/;

/** Any token in a longer text, even truncated. */
export const TOKEN_IN_TEXT = /swt_[0-9A-HJKMNP-TV-Z]{26}_[\w-]+/g;

/** A new token. `token` is shown once and never stored. */
interface MintedToken {
  readonly token: string;
  /** The stored alternative. */
  readonly hash: string;
}

/** @param id ULID of the token */
export function mintToken(id: string): MintedToken {
  const token = `swt_${id}_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashOf(token) };
}

/** The id in a token; undefined for anything else. */
export const idOfToken = (text: string): string | undefined => TOKEN.exec(text)?.[1];

/** SHA-256, hexadecimal. A slow hash is for passwords; no one can guess 256 random bits. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Whether a token matches the stored hash, in constant time. `null`: no hash is stored. */
export function matches(token: string, storedHash: string | null): boolean {
  const given = Buffer.from(hashOf(token), 'hex');
  const stored = storedHash === null ? Buffer.alloc(given.length) : Buffer.from(storedHash, 'hex');
  return given.length === stored.length && timingSafeEqual(given, stored) && storedHash !== null;
}

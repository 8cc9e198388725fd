import { createHash, randomBytes } from 'node:crypto';

/** A one-time token: 256 random bits. Only its hash is stored; the token itself exists only in the node's user data. */
export function newEnrolmentToken(): { readonly token: string; readonly hash: string } {
  const token = `swt_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashOfToken(token) };
}

/** A plain hash is enough, because no one can guess a token. */
export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');

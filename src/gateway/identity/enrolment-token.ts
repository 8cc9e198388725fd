import { createHash, randomBytes } from 'node:crypto';

/** A one-time token: 256 random bits. Only its hash is stored; the text itself exists in the node's user data alone. */
export function newEnrolmentToken(): { readonly token: string; readonly hash: string } {
  const token = `swt_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashOfToken(token) };
}

/** A token has too many bits to be guessed, so a plain hash keeps it. */
export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');

import { createHash } from 'node:crypto';

/** Without letters and digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/**
 * What a person compares between a program that asks to be signed in and the page that asks whether it may: eight letters of the
 * program's challenge, so that a program of someone else's shows others.
 */
export function programCode(challenge: string): string {
  const bytes = createHash('sha256').update(`sign in ${challenge}`).digest().subarray(0, 8);
  const letters = [...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

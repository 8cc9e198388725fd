import { randomBytes } from 'node:crypto';
import type { SignedIn } from '../../ops/index.ts';
import { matches } from '../../platform/secrets/access-token.ts';

interface Entry {
  readonly user: SignedIn;
  /** SHA-256 of the program's secret, hexadecimal. */
  readonly secretHash: string;
  readonly until: number;
}

const VALID_MS = 60_000;
const MAX = 1_000;

/**
 * Users who signed in for a program on their machine, until it fetches their session: the code travels through the
 * browser, and only the program that knows the secret behind the challenge can use it, once (as PKCE, RFC 7636).
 */
export class SignInCodes {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now = Date.now) {
    this.#now = now;
  }

  /** @param challenge SHA-256 of the program's secret, base64url */
  add(user: SignedIn, challenge: string): string {
    for (const [code, { until }] of this.#entries)
      if (until <= this.#now() || this.#entries.size >= MAX) this.#entries.delete(code);
    const code = randomBytes(32).toString('base64url');
    const secretHash = Buffer.from(challenge, 'base64url').toString('hex');
    this.#entries.set(code, { user, secretHash, until: this.#now() + VALID_MS });
    return code;
  }

  /** The user, the first time; undefined for any other code or secret. */
  take(code: string, verifier: string): SignedIn | undefined {
    const entry = this.#entries.get(code);
    this.#entries.delete(code);
    if (entry === undefined || entry.until <= this.#now()) return undefined;
    return matches(verifier, entry.secretHash) ? entry.user : undefined;
  }
}

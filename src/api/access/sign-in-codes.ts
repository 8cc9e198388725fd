import { randomBytes } from 'node:crypto';
import type { SignedIn } from '../../ops/index.ts';
import { matches } from '../../platform/secrets/access-token.ts';

const CODE_MS = 60_000;
const QUESTION_MS = 600_000;
const MAX = 1_000;

/** Things under names that nobody guesses, each for a time and to be taken once. */
class KeptForAWhile<Thing> {
  readonly #entries = new Map<string, { readonly thing: Thing; readonly until: number }>();
  readonly #validMs: number;
  readonly #now: () => number;

  constructor(validMs: number, now: () => number) {
    this.#validMs = validMs;
    this.#now = now;
  }

  add(thing: Thing): string {
    for (const [name, { until }] of this.#entries)
      if (until <= this.#now() || this.#entries.size >= MAX) this.#entries.delete(name);
    const name = randomBytes(32).toString('base64url');
    this.#entries.set(name, { thing, until: this.#now() + this.#validMs });
    return name;
  }

  look(name: string): Thing | undefined {
    const entry = this.#entries.get(name);
    return entry === undefined || entry.until <= this.#now() ? undefined : entry.thing;
  }

  take(name: string): Thing | undefined {
    const thing = this.look(name);
    this.#entries.delete(name);
    return thing;
  }
}

/** A program that waits on the machine of a user, for their session. */
export interface WaitingProgram {
  readonly port: number;
  /** SHA-256 of the program's secret, base64url. */
  readonly challenge: string;
  readonly state: string;
}

/**
 * Users who signed in for a program on their machine, until it fetches their session: the code travels through the
 * browser, and only the program that knows the secret behind the challenge can use it, once (as PKCE, RFC 7636). Whose program
 * it is, nothing of this tells: so the user is asked before there is a code (RFC 8252, 8.6).
 */
export class SignInCodes {
  readonly #codes: KeptForAWhile<{ readonly user: SignedIn; readonly challenge: string }>;
  /** By what the browser has in a cookie. */
  readonly questions: KeptForAWhile<{ readonly user: SignedIn; readonly program: WaitingProgram }>;

  constructor(now = Date.now) {
    this.#codes = new KeptForAWhile(CODE_MS, now);
    this.questions = new KeptForAWhile(QUESTION_MS, now);
  }

  add(user: SignedIn, challenge: string): string {
    return this.#codes.add({ user, challenge });
  }

  /** The user, the first time; undefined for any other code or secret. */
  take(code: string, verifier: string): SignedIn | undefined {
    const entry = this.#codes.take(code);
    if (entry === undefined) return undefined;
    return matches(verifier, Buffer.from(entry.challenge, 'base64url').toString('hex')) ? entry.user : undefined;
  }
}

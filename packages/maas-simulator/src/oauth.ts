import { type Answer, unauthorized } from './answer.ts';

export interface User {
  readonly username: string;
  readonly email: string;
  readonly isSuperuser: boolean;
}

interface Credential {
  readonly user: User;
  readonly tokenKey: string;
  readonly tokenSecret: string;
}

const admin: User = { username: 'admin', email: 'admin@example.test', isSuperuser: true };
const operator: User = { username: 'operator', email: 'operator@example.test', isSuperuser: false };

/** All users of the simulated region. */
export const users: readonly User[] = [admin, operator];

/** The simulator's invented API keys, `consumer:token:secret`. They are valid nowhere else. */
export const simulatorKeys: Readonly<Record<'admin' | 'operator', string>> = {
  admin: 'consumerkeyadmin01:tokenkeyadmin00001:tokensecretadmin0000000000000001',
  operator: 'consumerkeyoper001:tokenkeyoper000001:tokensecretoper00000000000000001',
};

function credentials(): Map<string, Credential> {
  const byConsumer = new Map<string, Credential>();
  const keys: [User, string][] = [
    [admin, simulatorKeys.admin],
    [operator, simulatorKeys.operator],
  ];
  for (const [user, key] of keys) {
    const [consumer = '', tokenKey = '', tokenSecret = ''] = key.split(':');
    byConsumer.set(consumer, { user, tokenKey, tokenSecret });
  }
  return byConsumer;
}

/** Maximum age of a timestamp. Any future timestamp is accepted. */
const toleranceSeconds = 300;

/**
 * Result of an `Authorization` header. `anonymous` is a header that is missing, of another
 * scheme, or without OAuth's members: MAAS then passes the request to its anonymous
 * handler, which mostly answers 400.
 */
type Authentication =
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'refused'; readonly answer: Answer };

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Checks OAuth 1.0 PLAINTEXT headers and records used nonces. */
export class Authenticator {
  readonly #credentials = credentials();
  /** Nonce by consumer and token, with the second until which it must be kept. */
  readonly #nonces = new Map<string, number>();
  #swept = 0;

  /** @param checkNonce false for a request that a fault doubled below the client. */
  authenticate(header: string | undefined, nowMs: number, checkNonce = true): Authentication {
    if (header === undefined || !/^OAuth\s/i.test(header)) return { kind: 'anonymous' };
    const members = new Map<string, string>();
    for (const member of header.replace(/^OAuth\s/i, '').split(',')) {
      const [, name, value] = /^\s*(\w+)="([^"]*)"\s*$/.exec(member) ?? [];
      if (name !== undefined && value !== undefined) members.set(name, decode(value));
    }
    const consumer = members.get('oauth_consumer_key');
    const token = members.get('oauth_token');
    const method = members.get('oauth_signature_method');
    const nonce = members.get('oauth_nonce');
    const timestamp = members.get('oauth_timestamp');
    if (!consumer || !token || !method || !nonce || !timestamp) return { kind: 'anonymous' };

    const refused = (reason: string): Authentication => ({ kind: 'refused', answer: unauthorized(reason) });
    const credential = this.#credentials.get(consumer);
    if (!credential) return refused('Invalid API key.');
    if (credential.tokenKey !== token) return refused(`'Invalid access token: ${token}'`);
    const now = Math.floor(nowMs / 1000);
    const given = Number.parseInt(timestamp, 10);
    if (!/^\d+$/.test(timestamp)) return refused(`'Invalid timestamp: ${timestamp}'`);
    if (now - given > toleranceSeconds) {
      return refused(
        `'Expired timestamp: given ${given} and now ${now} has a greater difference than threshold ${toleranceSeconds}'`,
      );
    }
    if (checkNonce && !this.#use(`${consumer} ${token} ${nonce}`, Math.max(given, now) + toleranceSeconds, now)) {
      return refused(`'Nonce already used: ${nonce}'`);
    }
    const signature = members.get('oauth_signature');
    if (signature === undefined) return refused("'Missing signature.'");
    if (method !== 'PLAINTEXT' && method !== 'HMAC-SHA1') {
      return refused(`'Signature method ${method} not supported try one of the following: PLAINTEXT, HMAC-SHA1'`);
    }
    // The consumer secret is empty. A real MAAS was recorded to put the true signature in this
    // text: a client must keep such bodies out of its logs.
    const expected = `&${credential.tokenSecret}`;
    if (method !== 'PLAINTEXT' || signature !== expected) {
      return refused(`'Invalid signature. Expected signature base string: ${expected}'`);
    }
    return { kind: 'user', user: credential.user };
  }

  /** True at the first use of a nonce. */
  #use(key: string, keepUntil: number, now: number): boolean {
    if (now - this.#swept > toleranceSeconds) {
      for (const [known, until] of this.#nonces) if (until < now) this.#nonces.delete(known);
      this.#swept = now;
    }
    if (this.#nonces.has(key)) return false;
    this.#nonces.set(key, keepUntil);
    return true;
  }
}

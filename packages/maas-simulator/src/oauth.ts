import { randomBytes } from 'node:crypto';
import { type Answer, badRequest, unauthorized } from './answer.ts';
import { type MaasVersion, versionTraits } from './versions.ts';

/** What groups may be given, as MAAS 3.8 names it; before, administrators have all of it and others nothing. */
const entitlements = [
  'can_edit_machines',
  'can_edit_global_entities',
  'can_edit_boot_entities',
  'can_edit_configurations',
  'can_view_identities',
  'can_edit_identities',
] as const;
export type Entitlement = (typeof entitlements)[number];

export interface User {
  readonly username: string;
  readonly email: string;
  /** Only shown: what a user may do is told by the entitlements. */
  readonly isSuperuser: boolean;
  readonly entitlements: readonly Entitlement[];
}

interface Credential {
  readonly user: User;
  readonly tokenKey: string;
  readonly tokenSecret: string;
}

const userNamed = (username: string, isSuperuser: boolean, rights: readonly Entitlement[]): User => ({
  username,
  email: `${username}@example.test`,
  isSuperuser,
  entitlements: rights,
});
const admin = userNamed('admin', true, entitlements);
const operator = userNamed('operator', false, []);
/** Of a group that may edit machines, and so commission, configure and deploy all of them. */
const deployer = userNamed('deployer', false, ['can_edit_machines']);

/** All users of the simulated region. */
export const usersOf = (version: MaasVersion): readonly User[] =>
  versionTraits(version).hasEntitlements ? [admin, operator, deployer] : [admin, operator];

/** API keys of the users, `consumer:token:secret`. `deployer` is known from version 3.8 on. */
export type SimulatorKeys = Readonly<Record<'admin' | 'operator' | 'deployer', string>>;

/** The simulator's invented keys, which everyone knows, for regions of records. They are valid nowhere else. */
export const simulatorKeys: SimulatorKeys = {
  admin: 'consumerkeyadmin01:tokenkeyadmin00001:tokensecretadmin0000000000000001',
  operator: 'consumerkeyoper001:tokenkeyoper000001:tokensecretoper00000000000000001',
  deployer: 'consumerkeydeploy1:tokenkeydeploy0001:tokensecretdeploy000000000000001',
};

/** Keys by chance, as long as those of a real MAAS: whoever has the first one deploys machines, as root where they are containers. */
export function newKeys(): SimulatorKeys {
  const part = (bytes: number): string => randomBytes(bytes).toString('hex');
  const key = (): string => `${part(9)}:${part(9)}:${part(16)}`;
  return { admin: key(), operator: key(), deployer: key() };
}

function credentials(version: MaasVersion, keysOf: SimulatorKeys): Map<string, Credential> {
  const byConsumer = new Map<string, Credential>();
  const keys = usersOf(version).map((user): [User, string] => [user, keysOf[user.username as keyof SimulatorKeys]]);
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
  readonly #credentials: Map<string, Credential>;
  readonly #isHeaderStrict: boolean;
  /** Nonce by consumer and token, with the second until which it must be kept. */
  readonly #nonces = new Map<string, number>();
  #swept = 0;

  constructor(version: MaasVersion, keys: SimulatorKeys = simulatorKeys) {
    this.#credentials = credentials(version, keys);
    this.#isHeaderStrict = versionTraits(version).isHeaderStrict;
  }

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
    if (this.#isHeaderStrict && !members.has('oauth_signature')) return { kind: 'anonymous' };
    if (this.#isHeaderStrict && !/^[+-]?\d+$/.test(timestamp)) {
      const problem = 'the following problems were found among the auth params: oauth_timestamp has an unexpected type';
      return { kind: 'refused', answer: badRequest(`Bad Request: ${problem}`) };
    }

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

import { ulid } from 'ulid';
import { isRole, isServiceActor, ROLES, type Role } from '../core/access.ts';
import { given } from '../core/data/given.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { TokenKind } from '../core/words.ts';
import { idOfToken, matches, mintToken } from '../platform/secrets/access-token.ts';
import type { ApiToken, Store } from '../store/index.ts';
import { problem } from './problem.ts';
import { orWithoutStore } from './without-store.ts';

/** The caller of a request, by its token or session. */
export interface Principal {
  /** Id of the token. */
  readonly id: string;
  readonly kind: TokenKind;
  /** Name of the token, or of the user who signed in: the actor in the audit trail. */
  readonly name: string;
  readonly role: Role;
}

/** A user whom an OpenID provider has identified. */
export interface SignedIn {
  readonly name: string;
  readonly role: Role;
  /** For the audit trail: the identity from the provider. */
  readonly issuer: string;
  readonly subject: string;
}

interface TokenRequest {
  readonly name: string;
  readonly role: string;
  /** ISO 8601, or a duration from now like `90d`, `12h`, `30m`. Absent: never. */
  readonly expires?: string;
}

/** A token without its secret. */
interface TokenView {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly role: string;
  readonly state: 'valid' | 'expired' | 'revoked';
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
  readonly last_used_at: string | null;
}

/** A new token. `token` is shown only once. */
export interface CreatedToken extends TokenView {
  readonly token: string;
}

type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly why: 'unknown' | 'expired' | 'revoked' };

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_DAYS = 3_650;
/** How long an expired session stays in the list. */
const SESSIONS_KEPT_MS = 7 * UNIT_MS.d;
/** Precision of `last_used_at`, so that a busy token does not cost a write per request. */
const RECORD_USE_EVERY_MS = 60_000;
/** How long a token that was read from the store is accepted without it: longer than most outages. */
const TRUSTED_WITHOUT_STORE_MS = 24 * 3_600_000;

export class TokenOperations {
  readonly #store: Pick<Store, 'apiTokens' | 'atomically'>;
  readonly #now: typeof Date.now;
  readonly #recordedAt = new Map<string, number>();
  /** Tokens that were accepted here, as last read, and when: for use while the store is unreachable. None can be revoked meanwhile. */
  readonly #accepted = new Map<string, { readonly token: ApiToken & { readonly hash: string }; readonly at: number }>();
  readonly #view = (token: ApiToken): TokenView => viewToken(token, this.#now());

  constructor(store: Pick<Store, 'apiTokens' | 'atomically'>, now = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /** @throws ProblemError `invalid` (with all problems), `conflict` when the name is taken */
  async create(request: TokenRequest, by: string): Promise<CreatedToken> {
    const { name, role, expiresAt } = checked(request, this.#now());
    const id = ulid(this.#now());
    const { token, hash } = mintToken(id);
    const record = await this.#store.atomically(async ({ apiTokens, audit }) => {
      const added = await apiTokens.add({
        id,
        name,
        role,
        hash,
        createdBy: by,
        ...given({ expiresAt }),
      });
      const details = { role, expires_at: added.expiresAt };
      await audit.append({ actor: by, action: 'token.create', target: `token/${name}`, details });
      return added;
    });
    return { ...this.#view(record), token };
  }

  /** Starts a session of a user who signed in; its token is valid for this many hours. */
  async startSession({ name, role, issuer, subject }: SignedIn, hours: number): Promise<CreatedToken> {
    const id = ulid(this.#now());
    const { token, hash } = mintToken(id);
    const expiresAt = new Date(this.#now() + hours * UNIT_MS.h).toISOString();
    const record = await this.#store.atomically(async ({ apiTokens, audit }) => {
      await apiTokens.forgetSessions(new Date(this.#now() - SESSIONS_KEPT_MS).toISOString());
      const details = { role, expires_at: expiresAt, issuer, subject };
      await audit.append({ actor: name, action: 'session.start', target: `session/${id}`, details });
      return apiTokens.add({ id, kind: 'session', name, role, hash, createdBy: name, expiresAt });
    });
    return { ...this.#view(record), token };
  }
  /** Newest first, including revoked and expired ones. */
  async list(): Promise<readonly TokenView[]> {
    return (await this.#store.apiTokens.list()).map((one) => this.#view(one));
  }

  /** Revokes a token or session by id, or by name: then with all sessions of that name. The answer is the newest. */
  async revoke(nameOrId: string, by: string): Promise<TokenView> {
    const open = (await this.#store.apiTokens.list()).filter(({ revokedAt }) => revokedAt === null);
    const byId = open.filter(({ id }) => id === nameOrId);
    const found = byId.length > 0 ? byId : open.filter(({ name }) => name === nameOrId);
    if (found.length === 0)
      throw problem('not-found', `there is no unrevoked token '${nameOrId}'`, {
        hint:
          didYouMean(nameOrId, new Set(open.map(({ name }) => name))) ?? "'sitewright token list' shows all tokens.",
      });
    for (const { id } of found) this.#accepted.delete(id);
    const [newest] = await this.#store.atomically(async ({ apiTokens, audit }) => {
      const revoked: ApiToken[] = [];
      for (const { id, kind, name } of found) {
        const target = kind === 'token' ? `token/${name}` : `session/${id}`;
        await audit.append({ actor: by, action: `${kind}.revoke`, target });
        revoked.push(await apiTokens.revoke(id, by, new Date(this.#now()).toISOString()));
      }
      return revoked;
    });
    return this.#view(newest!);
  }

  /**
   * Finds the owner of a token. Gives the same answer in the same time for every text that is not one of our tokens.
   */
  async authenticate(token: string): Promise<Authentication> {
    const id = idOfToken(token);
    const stored =
      id === undefined
        ? undefined
        : await orWithoutStore(
            async () => {
              const token = await this.#store.apiTokens.findById(id);
              this.#accepted.delete(id);
              if (token !== undefined) this.#accepted.set(id, { token, at: this.#now() });
              return token;
            },
            () => this.#acceptedLately(id),
          );
    const isRight = matches(token, stored?.hash ?? null);
    if (!isRight || stored === undefined || !isRole(stored.role)) return { ok: false, why: 'unknown' };
    const { state } = this.#view(stored);
    if (state !== 'valid') return { ok: false, why: state };
    const { kind, name, role } = stored;
    const time = this.#now();
    if (time - (this.#recordedAt.get(stored.id) ?? 0) >= RECORD_USE_EVERY_MS) {
      this.#recordedAt.set(stored.id, time);
      // A valid token works even if its use cannot be recorded.
      await orWithoutStore(
        () => this.#store.apiTokens.recordUse(stored.id, new Date(time).toISOString()),
        () => undefined,
      ).catch(() => undefined);
    }
    return { ok: true, principal: { id: stored.id, kind, name, role } };
  }

  #acceptedLately(id: string) {
    const entry = this.#accepted.get(id);
    return entry !== undefined && this.#now() - entry.at < TRUSTED_WITHOUT_STORE_MS ? entry.token : undefined;
  }
}

function viewToken(token: ApiToken, now: number): TokenView {
  const isExpired = token.expiresAt !== null && Date.parse(token.expiresAt) <= now;
  return {
    id: token.id,
    kind: token.kind,
    name: token.name,
    role: token.role,
    state: token.revokedAt !== null ? 'revoked' : isExpired ? 'expired' : 'valid',
    created_at: token.createdAt,
    created_by: token.createdBy,
    expires_at: token.expiresAt,
    revoked_at: token.revokedAt,
    revoked_by: token.revokedBy,
    last_used_at: token.lastUsedAt,
  };
}

function checked({ name, role, expires }: TokenRequest, now: number) {
  const errors: Diagnostic[] = [];
  const refuse = (path: string, message: string, hint: string): void =>
    void errors.push({ severity: 'error', code: `token.${path}`, message, hint, path });
  // The name must fit into paths and headers, and must not look like an id.
  if (!/^[a-z0-9][a-z0-9._@-]{0,62}$/.test(name))
    refuse(
      'name',
      `'${name.slice(0, 100)}' is not a valid token name`,
      'Start with a lower-case letter or digit, then use these and . _ @ -; at most 63 characters.',
    );
  else if (isServiceActor(name))
    refuse('name', `'${name}' is the name of a part of the service`, 'Choose the name of a person or program.');
  if (!isRole(role)) refuse('role', `there is no role '${role.slice(0, 100)}'`, `The roles are ${ROLES.join(', ')}.`);
  const expiresAt = expires === undefined ? undefined : momentOf(expires, now);
  if (expires !== undefined && expiresAt === undefined)
    refuse(
      'expires',
      `'${expires.slice(0, 100)}' is not a time within the next ${LONGEST_DAYS} days`,
      'Write it as 90d, 12h, 30m, or as 2027-01-31T00:00:00Z.',
    );
  if (errors.length > 0)
    throw problem('invalid', errors.map(({ message }) => message).join('; '), { errors, hint: errors[0]!.hint! });
  return { name, role, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString() };
}

/** Milliseconds since 1970; undefined unless it is a time in the future. */
function momentOf(text: string, now: number): number | undefined {
  const [, count, unit] = /^(\d{1,7})([mhd])$/.exec(text) ?? [];
  const isWritten = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/.test(text);
  const moment =
    unit !== undefined
      ? now + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
      : isWritten
        ? Date.parse(text)
        : NaN;
  return moment > now && moment <= now + LONGEST_DAYS * UNIT_MS.d ? moment : undefined;
}

import type { New, Stored } from '../tables.ts';

/** An API token without its hash, safe to show. */
export type ApiToken = Omit<Stored<'apiToken'>, 'hash'>;

export type NewApiToken = New<'apiToken'>;

/** API tokens and sessions. No token is removed, because the audit trail names them. */
export interface ApiTokenStore {
  /** @throws `conflict` when a token that is not revoked has this name, or the id exists */
  add(token: NewApiToken): Promise<ApiToken>;
  /** With its hash, for comparison. Undefined for an unknown id. */
  findById(id: string): Promise<(ApiToken & { readonly hash: string }) | undefined>;
  /** Newest first. */
  list(): Promise<readonly ApiToken[]>;
  /** Revokes a token. @throws `not-found` for an unknown id or a token revoked earlier */
  revoke(id: string, by: string, at: string): Promise<ApiToken>;
  /** Removes sessions that expired before this time. */
  forgetSessions(before: string): Promise<void>;
  /** Records a use. */
  recordUse(id: string, at: string): Promise<void>;
}

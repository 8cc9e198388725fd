import type { New, Stored } from '../tables.js';

/** A token of the API, as it may be shown: without its hash. */
export type ApiToken = Omit<Stored<'apiToken'>, 'hash'>;

export type NewApiToken = New<'apiToken'>;

/** Tokens of the API. None is removed: the audit trail names them. */
export interface ApiTokenStore {
  /** @throws `conflict` when a token that is not revoked has the name, or the id is there already */
  add(token: NewApiToken): Promise<ApiToken>;
  /** With its hash, to compare with. Undefined for an id that is not there. */
  findById(id: string): Promise<(ApiToken & { readonly hash: string }) | undefined>;
  /** Newest first. */
  list(): Promise<readonly ApiToken[]>;
  /** Ends a token that is not revoked. @throws `not-found` when there is none of this id */
  revoke(id: string, by: string, at: string): Promise<ApiToken>;
  /** Notes a use. */
  noteUse(id: string, at: string): Promise<void>;
}
